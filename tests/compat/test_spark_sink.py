"""Spark writes topics: batches and streams, at least once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from logquake.client.producer.hashing import partition_for
from logquake.cluster.api import Cluster
from tests.compat.sparks import SPARKS_WARNINGS
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.slow, *SPARKS_WARNINGS]


def read(spark: Any, servers: str, topic: str) -> Any:
    return (
        spark.read.format("logquake")
        .option("kafka.bootstrap.servers", servers)
        .option("includeHeaders", "true")
        .option("subscribe", topic)
        .load()
    )


def test_rows_are_written_with_all_that_they_say(
    spark: Any, cluster: Cluster, topic: Callable[..., str]
) -> None:
    name = topic(partitions=3)
    by_key = partition_for(b"k1", 3)
    other = (by_key + 1) % 3
    rows = spark.sql(
        f"""
        select '{name}' topic, 'k1' key, 'v1' value, cast(null as int) partition,
               timestamp '2026-01-01 00:00:00.123' timestamp,
               array(named_struct('key', 'h', 'value', cast('x' as binary))) headers
        union all
        select '{name}', null, null, {other}, null, null
        """
    )
    write = rows.write.format("logquake").mode("append")
    write.option("kafka.bootstrap.servers", cluster.bootstrap_servers).save()
    kept = {row["partition"]: row for row in read(spark, cluster.bootstrap_servers, name).collect()}
    assert kept.keys() == {by_key, other}
    first, second = kept[by_key], kept[other]
    assert (bytes(first["key"]), bytes(first["value"])) == (b"k1", b"v1")
    assert first["timestamp"].isoformat() == "2026-01-01T00:00:00.123000"
    assert [(each["key"], bytes(each["value"])) for each in first["headers"]] == [("h", b"x")]
    assert (second["key"], second["value"], second["headers"]) == (None, None, None)


def test_a_stream_goes_from_topic_to_topic_in_order(
    spark: Any, cluster: Cluster, topic: Callable[..., str], tmp_path: Path
) -> None:
    source, target = topic(partitions=2), topic(partitions=2)
    servers = cluster.bootstrap_servers
    numbers = spark.range(2_000).selectExpr(
        "cast(id as string) value", "cast(id % 2 as int) partition"
    )
    write = numbers.repartition("partition").sortWithinPartitions("value").write
    write.format("logquake").mode("append").option("topic", source).option(
        "kafka.bootstrap.servers", servers
    ).option("kafka.batch.size", "4000").option("kafka.compression.type", "gzip").save()
    query = (
        spark.readStream.format("logquake")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", source)
        .option("startingOffsets", "earliest")
        .load()
        .select("value", "partition")
        .writeStream.format("logquake")
        .option("kafka.bootstrap.servers", servers)
        .option("topic", target)
        .option("checkpointLocation", str(tmp_path))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(PATIENCE_S), query.status
    places = ["partition", "offset", "value"]
    copied = read(spark, servers, target).select(*places).orderBy(*places).collect()
    assert copied == read(spark, servers, source).select(*places).orderBy(*places).collect()
    assert len(copied) == 2_000


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("select 'k' key", "a column value is needed"),
        ("select 'v' value", "a topic is needed"),
        ("select 1 value, 't' topic", "column value is int, and has to be string or binary"),
    ],
)
def test_what_cannot_be_written_is_said_in_a_line(
    spark: Any, cluster: Cluster, rows: str, why: str
) -> None:
    from pyspark.errors import PySparkException

    write = spark.sql(rows).write.format("logquake").mode("append")
    with pytest.raises(PySparkException, match=why):
        write.option("kafka.bootstrap.servers", cluster.bootstrap_servers).save()


@pytest.mark.parametrize("guarantee", ["at-least-once", "exactly-once"])
def test_that_no_broker_answers_is_said_in_a_line(spark: Any, guarantee: str) -> None:
    from pyspark.errors import PySparkException

    options = {
        "kafka.bootstrap.servers": "127.0.0.1:1",
        "kafka.max.block.ms": "1000",
        "deliveryGuarantee": guarantee,
        "topic": "any",
    }
    write = spark.sql("select 'v' value").write.format("logquake").mode("append")
    why = r"BrokersError: writing at 127.0.0.1:1: .*no broker answers: no connection"
    with pytest.raises(PySparkException, match=why):
        write.options(**options).save()
