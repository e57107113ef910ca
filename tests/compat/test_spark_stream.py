"""Spark reads a topic as a stream: batch by batch, over restarts, and what is lost is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from logquake.cluster.api import Cluster
from logquake.pipeline.progress import lags
from tests.compat.sparks import SPARKS_WARNINGS
from tests.every_broker import wait_until_all_tell
from tests.log_contents import Given, send_records
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.slow, *SPARKS_WARNINGS]


@dataclass
class Stream:
    """A query that is started anew again and again, with one checkpoint."""

    spark: Any
    servers: str
    topic: str
    folder: Path

    def produce(self, partition: int, count: int) -> None:
        records = [Given(b"%d" % number) for number in range(count)]
        send_records(self.servers, self.topic, records, partition=partition)

    def run(self, **options: str) -> list[dict[str, Any]]:
        """All that is there by now is read; the batches' progress."""
        query = (
            self.spark.readStream.format("logquake")
            .option("kafka.bootstrap.servers", self.servers)
            .option("subscribe", self.topic)
            .options(**{"startingOffsets": "earliest"} | options)
            .load()
            .select("partition", "offset")
            .writeStream.format("parquet")
            .option("path", str(self.folder / "rows"))
            .option("checkpointLocation", str(self.folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        try:
            assert query.awaitTermination(PATIENCE_S), query.status
        finally:
            query.stop()
        return [json.loads(progress.json) for progress in query.recentProgress]

    def rows(self) -> list[tuple[int, int]]:
        return sorted(map(tuple, self.spark.read.parquet(str(self.folder / "rows")).collect()))


@pytest.fixture
def stream(spark: Any, cluster: Cluster, topic: Callable[..., str], tmp_path: Path) -> Stream:
    return Stream(spark, cluster.bootstrap_servers, topic(partitions=2), tmp_path)


def test_batches_share_what_is_there_and_a_restart_goes_on(stream: Stream) -> None:
    stream.produce(0, 300)
    stream.produce(1, 100)
    batches = stream.run(maxOffsetsPerTrigger="200", maxRecordsPerPartition="60")
    behind = [{at.partition: lag for at, lag in lags(batch).items()} for batch in batches]
    assert behind[:2] == [{0: 150, 1: 50}, {0: 0, 1: 0}]
    (first, second) = (batch["sources"][0] for batch in batches if batch["numInputRows"])
    assert first["numInputRows"] == second["numInputRows"] == 200
    assert first["endOffset"] == {stream.topic: {"0": 150, "1": 50}}
    assert second["latestOffset"] == second["endOffset"] == {stream.topic: {"0": 300, "1": 100}}

    admin = AdminClient({"bootstrap.servers": stream.servers})
    admin.create_partitions([NewPartitions(stream.topic, 3)])[stream.topic].result(PATIENCE_S)
    wait_until_all_tell(stream.servers, stream.topic, partitions=3)
    stream.produce(1, 50)
    stream.produce(2, 20)
    stream.run()
    expected = [(p, offset) for p, end in enumerate((300, 150, 20)) for offset in range(end)]
    assert stream.rows() == expected
    offsets = sorted((stream.folder / "checkpoint" / "offsets").iterdir())[-1].read_text()
    assert json.loads(offsets.splitlines()[-1]) == {stream.topic: {"0": 300, "1": 150, "2": 20}}


def test_from_the_latest_nothing_is_left_out_though_the_first_batch_is_run_again(
    stream: Stream,
) -> None:
    stream.produce(0, 5)
    stream.run(startingOffsets="latest")
    for left in (stream.folder / "checkpoint" / "commits").iterdir():
        left.unlink()  # as if the driver had died before it wrote down that the batch is through
    stream.produce(0, 7)
    stream.run(startingOffsets="latest")
    stream.produce(1, 2)
    stream.run(startingOffsets="latest")
    assert stream.rows() == [*((0, offset) for offset in range(5, 12)), (1, 0), (1, 1)]


def test_what_was_deleted_before_it_was_read_is_named(stream: Stream) -> None:
    from pyspark.errors import PySparkException

    stream.produce(0, 10)
    stream.run()
    stream.produce(0, 30)
    admin = AdminClient({"bootstrap.servers": stream.servers})
    for future in admin.delete_records([TopicPartition(stream.topic, 0, 25)]).values():
        future.result(PATIENCE_S)
    lost = f"{stream.topic}-0 has lost offsets 10 to 24: its log begins at 25"
    with pytest.raises(PySparkException, match=lost):
        stream.run()
    stream.run(failOnDataLoss="false")
    assert stream.rows() == [(0, offset) for offset in (*range(10), *range(25, 40))]
