"""Spark reads a topic through format("logquake"): rows, ranges, options, counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from logquake.cluster.api import Cluster
from logquake.wire.records import Codec
from tests.compat.sparks import SPARKS_WARNINGS
from tests.log_contents import Given, send_records

pytestmark = [pytest.mark.slow, *SPARKS_WARNINGS]

TOPIC = "spark-source"
PER_PARTITION = 600


@pytest.fixture(scope="module")
def servers(cluster: Cluster) -> str:
    """A topic of three partitions, each with all codecs, a tombstone and headers in it."""
    cluster.create_topic(TOPIC, partitions=3, replication_factor=1)
    for partition in range(3):
        _fill(cluster.bootstrap_servers, partition)
    return str(cluster.bootstrap_servers)


def _fill(servers: str, partition: int) -> None:
    per_codec = PER_PARTITION // len(Codec)
    for codec in Codec:
        first = codec * per_codec
        records = [
            Given(b"%d" % index, b"file%d" % (index % 3), (("n", None),), 1_700_000 + index)
            for index in range(first, first + per_codec)
        ]
        records[0] = records[0]._replace(value=None)
        keys = {"partition": partition, "compression_type": codec}
        assert send_records(servers, TOPIC, records, **keys) == first


def reader(spark: Any, servers: str, **options: str) -> Any:
    return (
        spark.read.format("logquake")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", TOPIC)
        .options(**options)
        .load()
    )


def test_every_record_is_read_once_with_its_place(spark: Any, servers: str) -> None:
    rows = reader(spark, servers).select("partition", "offset").collect()
    expected = [(p, offset) for p in range(3) for offset in range(PER_PARTITION)]
    assert sorted(map(tuple, rows)) == expected


def test_a_row_is_the_connectors(spark: Any, servers: str) -> None:
    frame = reader(spark, servers, includeHeaders="true")
    row = frame.where("partition = 1 and offset = 121").collect()[0].asDict(recursive=True)
    stamp = row.pop("timestamp")
    assert stamp.timestamp() == 1700.121
    assert row == {
        "key": bytearray(b"file1"),
        "value": bytearray(b"121"),
        "topic": TOPIC,
        "partition": 1,
        "offset": 121,
        "timestampType": 0,
        "headers": [{"key": "n", "value": None}],
    }


def test_offsets_bound_the_read_and_large_ranges_are_split(spark: Any, servers: str) -> None:
    frame = reader(
        spark,
        servers,
        minPartitions="8",
        startingOffsets=json.dumps({TOPIC: {"0": 590, "1": -2, "2": 5}}),
        endingOffsets=json.dumps({TOPIC: {"0": -1, "1": 300, "2": 6}}),
    )
    assert frame.rdd.getNumPartitions() >= 8
    counts = {
        row["partition"]: row["count"] for row in frame.groupBy("partition").count().collect()
    }
    assert counts == {0: 10, 1: 300, 2: 1}


def test_times_bound_the_read(spark: Any, servers: str) -> None:
    frame = reader(spark, servers, startingTimestamp="1700100", endingTimestamp="1700150")
    offsets = {row["offset"] for row in frame.select("offset").collect()}
    assert offsets == set(range(100, 150))


def test_columns_that_are_not_chosen_are_not_there(spark: Any, servers: str) -> None:
    frame = reader(spark, servers, columns="partition,offset")
    assert frame.columns == ["partition", "offset"]
    assert frame.count() == 3 * PER_PARTITION


def test_filters_are_pushed_down_and_tasks_fewer(spark: Any, servers: str) -> None:
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        late = "timestamp >= '1970-01-01 00:28:20.1'"
        frame = reader(spark, servers, pushFilters="true").where(
            f"partition = 1 and offset >= 10 and offset < 500 and {late}"
        )
        assert frame.rdd.getNumPartitions() == 1
        offsets = [row["offset"] for row in frame.select("offset").collect()]
        assert offsets == list(range(100, 500))
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def test_records_are_counted_by_key(spark: Any, servers: str) -> None:
    from logquake.pipeline.jobs.counting import count_by_key

    counts = count_by_key(spark, servers, TOPIC)
    assert counts == {f"file{index}": PER_PARTITION for index in range(3)}


def test_a_topic_without_records_has_no_rows(
    spark: Any, servers: str, topic: Callable[..., str]
) -> None:
    assert reader(spark, servers, subscribe=topic(partitions=2)).count() == 0


def test_an_unknown_topic_fails_the_query_with_kafkas_name_for_it(spark: Any, servers: str) -> None:
    from pyspark.errors import PySparkException

    frame = reader(spark, servers, subscribe="no-such-topic")
    with pytest.raises(PySparkException, match="UNKNOWN_TOPIC_OR_PARTITION"):
        frame.count()
