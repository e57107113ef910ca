"""Spark writes each row once, whatever is run again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from logquake.cluster.api import Cluster
from tests.compat.sparks import SPARKS_PATIENCE_S, SPARKS_WARNINGS
from tests.everything import only_with_everything
from tests.log_contents import Given, send_records
from tests.rounds.streaming.broker_strikes import Deed
from tests.rounds.streaming.load import Size
from tests.rounds.streaming.spark_strikes import SparkStrike
from tests.rounds.streams import GUARANTEES, Plan, Streamed
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.slow, *SPARKS_WARNINGS]

PARTITIONS = 2
RECORDS = 400  # of each partition
COORDINATORS = 50  # partitions of an internal topic, where nothing else is said
NOTHING: dict[str, str] = {}
EXACTLY_ONCE = {"deliveryGuarantee": "exactly-once"}


@dataclass
class Copy:
    """A query from topic to topic, whose driver is lost after an epoch's rows are written."""

    spark: Any
    servers: str
    source: str
    target: str
    checkpoint: Path

    def produce(self) -> None:
        for partition in range(PARTITIONS):
            records = [Given(b"%d-%d" % (partition, number)) for number in range(RECORDS)]
            send_records(self.servers, self.source, records, partition=partition)

    def run(
        self,
        writing: Mapping[str, str] = EXACTLY_ONCE,
        reading: Mapping[str, str] = NOTHING,
    ) -> None:
        """All that is there. Raises PySparkException."""
        rows = (
            self.spark.readStream.format("logquake")
            .option("kafka.bootstrap.servers", self.servers)
            .option("subscribe", self.source)
            .option("startingOffsets", "earliest")
            .options(**reading)
            .load()
            .select("value", "partition")
        )
        query = (
            rows.writeStream.format("logquake")
            .option("kafka.bootstrap.servers", self.servers)
            .option("topic", self.target)
            .option("kafka.batch.size", "1000")
            .option("checkpointLocation", str(self.checkpoint))
            .options(**writing)
            .trigger(availableNow=True)
            .start()
        )
        try:
            assert query.awaitTermination(PATIENCE_S), query.status
        finally:
            query.stop()

    def forget_last_epoch(self) -> None:
        """As if the driver had died before it wrote down that the epoch is through."""
        commits = self.checkpoint / "commits"
        last = max(int(path.name) for path in commits.iterdir() if path.name.isdecimal())
        for path in (commits / str(last), commits / f".{last}.crc"):
            path.unlink(missing_ok=True)

    def values(self) -> list[list[str]]:
        """What readers of committed records see, by partition in order."""
        rows = (
            self.spark.read.format("logquake")
            .option("kafka.bootstrap.servers", self.servers)
            .option("kafka.isolation.level", "read_committed")
            .option("subscribe", self.target)
            .load()
            .selectExpr("partition", "offset", "cast(value as string) value")
            .orderBy("partition", "offset")
            .collect()
        )
        return [[row[2] for row in rows if row[0] == each] for each in range(PARTITIONS)]


ONCE = [[f"{partition}-{number}" for number in range(RECORDS)] for partition in range(PARTITIONS)]


@pytest.fixture
def copy(spark: Any, cluster: Cluster, topic: Callable[..., str], tmp_path: Path) -> Copy:
    source, target = (topic(partitions=PARTITIONS) for _ in range(2))
    copy = Copy(spark, cluster.bootstrap_servers, source, target, tmp_path / "checkpoint")
    copy.produce()
    return copy


@pytest.mark.parametrize(("options", "times"), [(EXACTLY_ONCE, 1), (NOTHING, 2)])
def test_an_epoch_that_is_run_again(copy: Copy, options: dict[str, str], times: int) -> None:
    copy.run(options)
    copy.forget_last_epoch()
    copy.run(options)
    assert copy.values() == [times * values for values in ONCE]


@pytest.mark.timeout(2 * SPARKS_PATIENCE_S)
@only_with_everything
def test_a_driver_and_a_broker_that_are_killed(
    spark: Any, cluster: Cluster, tmp_path: Path
) -> None:
    """`python -m tests.rounds streams` in small."""
    small = Plan(
        seed=1,
        size=Size(rows=20_000, keys=50),
        seconds=10.0,
        rows_a_batch=4_000,
        deeds=(Deed.KILL,),
        spark=(SparkStrike.DRIVER,),
        strikes=1,
    )
    streamed = Streamed(cluster, small, GUARANTEES[0], tmp_path, coordinators=COORDINATORS)
    streamed.stream()
    outcome = streamed.judge(spark)
    assert outcome.is_sound, str(outcome)
    assert outcome.strikes == {"kill -9": 1, "kill -9 of the driver": 1}


def test_an_epoch_of_other_partitions_is_refused(copy: Copy) -> None:
    from pyspark.errors import PySparkException

    copy.run()
    copy.forget_last_epoch()
    for size in ("100", "350"):
        with pytest.raises(PySparkException, match="the same rows each time"):
            copy.run(reading={"maxRecordsPerPartition": size})
    assert copy.values()[0][:RECORDS] == ONCE[0]


def test_a_batch_of_a_name_is_written_once(copy: Copy) -> None:
    rows = copy.spark.range(10).selectExpr("cast(id as string) value", "0 partition")
    for _ in range(2):
        write = rows.write.format("logquake").mode("append").options(**EXACTLY_ONCE)
        write.option("transactionalIdPrefix", f"load-of-{copy.target}").option(
            "topic", copy.target
        ).option("kafka.bootstrap.servers", copy.servers).save()
    assert sorted(copy.values()[0]) == [str(number) for number in range(10)]
