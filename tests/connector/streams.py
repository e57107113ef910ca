"""Streams read through either format: the same batches, by their offsets, and the same rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.spark.connector import CONNECTORS
from tests.connector.outcomes import Case, Done
from tests.connector.reads import plain
from tests.connector.topics import (
    BILLS,
    DECIDED,
    FIRST_MS,
    LOST,
    ORDERS,
    STEP_MS,
    make,
    send_some,
    widen,
)
from tests.waiting import wait_for

_TIMEOUT_S = 300
_PARTITIONS, _FEW = 2, 10
_LOOKS_S = 10  # some triggers of a second
_OF = {"subscribe": ORDERS, "startingOffsets": "earliest"}


def stream_cases(spark: Any, bootstrap: str) -> list[Case]:
    def case(name: str, options: Mapping[str, str], differs: str | None = None) -> Case:
        return Case(f"stream: {name}", partial(_stream, spark, bootstrap, options), differs)

    return [
        case("all there is", _OF),
        case("maxOffsetsPerTrigger", {**_OF, "maxOffsetsPerTrigger": "12"}),
        case(
            "maxOffsetsPerTrigger, unequal partitions",
            {
                "subscribePattern": "orders|bills",
                "startingOffsets": json.dumps(
                    {ORDERS: {"0": 10, "1": -2, "2": -1}, BILLS: {"0": 3, "1": -2}}
                ),
                "maxOffsetsPerTrigger": "20",
            },
        ),
        case("minPartitions", {**_OF, "minPartitions": "8"}),
        case("from the latest", {"subscribe": ORDERS}),
        case(
            "startingOffsetsByTimestamp",
            {
                "subscribe": BILLS,
                "startingOffsetsByTimestamp": json.dumps(
                    {BILLS: {"0": FIRST_MS + 9 * STEP_MS, "1": FIRST_MS + 30 * STEP_MS}}
                ),
            },
        ),
        case("includeHeaders", {**_OF, "includeHeaders": "true"}),
        case("deleted records", {"subscribe": LOST, "startingOffsets": '{"lost": {"0": 2}}'}),
        case(
            "deleted records, failOnDataLoss=false",
            {
                "subscribe": LOST,
                "startingOffsets": '{"lost": {"0": 2}}',
                "failOnDataLoss": "false",
            },
        ),
        case(
            "read_committed",
            {
                "subscribe": DECIDED,
                "startingOffsets": "earliest",
                "kafka.isolation.level": "read_committed",
            },
        ),
        case("endingOffsets", {**_OF, "endingOffsets": "latest"}),
        Case(
            "stream: a checkpoint of the connector's goes on",
            partial(_taken_over, spark, bootstrap),
        ),
        Case("stream: partitions that come later", partial(_grown, spark, bootstrap)),
        Case("stream: minOffsetsPerTrigger", partial(_gathered, spark, bootstrap)),
    ]


def _stream(spark: Any, bootstrap: str, options: Mapping[str, str], of_format: str) -> Done:
    with TemporaryDirectory() as folder:
        rows = _run(spark, bootstrap, options, of_format, Path(folder))
        return [*_offsets(Path(folder)), *rows]


def _taken_over(spark: Any, bootstrap: str, of_format: str) -> Done:
    """The connector reads what is there first, either what comes after."""
    topic = f"grows-{of_format}"
    make(bootstrap, {topic: _PARTITIONS})
    options = {"subscribe": topic, "startingOffsets": "earliest"}
    with TemporaryDirectory() as folder:
        rows: list[Any] = []
        for reader, first in ((CONNECTORS, 0), (of_format, _FEW)):
            send_some(bootstrap, topic, _PARTITIONS, range(first, first + _FEW))
            rows += _run(spark, bootstrap, options, reader, Path(folder))
    return [(*row[:2], *row[3:]) for row in rows]  # without the topic


def _grown(spark: Any, bootstrap: str, of_format: str) -> Done:
    topic = f"wider-{of_format}"
    make(bootstrap, {topic: _PARTITIONS})
    options = {"subscribe": topic, "startingOffsets": "earliest", "maxOffsetsPerTrigger": "5"}
    with TemporaryDirectory() as folder:
        rows: list[Any] = []
        for partitions in (_PARTITIONS, _PARTITIONS + 2):
            widen(bootstrap, topic, partitions)
            send_some(bootstrap, topic, partitions, range(_FEW))
            rows += _run(spark, bootstrap, options, of_format, Path(folder))
        offsets = [each[topic] for each in _offsets(Path(folder))]
    return [*offsets, *((*row[:2], *row[3:]) for row in rows)]


def _gathered(spark: Any, bootstrap: str, of_format: str) -> Done:
    """Too few wait for more, though they are looked at again and again."""
    topic = f"gathers-{of_format}"
    make(bootstrap, {topic: _PARTITIONS})
    send_some(bootstrap, topic, _PARTITIONS, range(_FEW))
    with TemporaryDirectory() as folder:
        query = (
            spark.readStream.format(of_format)
            .option("kafka.bootstrap.servers", bootstrap)
            .option("subscribe", topic)
            .option("startingOffsets", "earliest")
            .option("minOffsetsPerTrigger", str(2 * _FEW))
            .option("maxTriggerDelay", "1h")
            .load()
            .writeStream.foreachBatch(lambda *_: None)
            .option("checkpointLocation", folder)
            .trigger(processingTime="1 second")
            .start()
        )
        try:
            for batches, more in ((1, _FEW), (1, _FEW), (2, 0)):
                _wait_for_batches(query, Path(folder), batches)
                send_some(bootstrap, topic, _PARTITIONS, range(more))
        finally:
            query.stop()
        return [each[topic] for each in _offsets(Path(folder))]


def _wait_for_batches(query: Any, folder: Path, number: int) -> None:
    """And for what would come next if it did not wait."""
    wait_for("batches", lambda: _offsets(folder), lambda found: len(found) >= number)
    query.awaitTermination(_LOOKS_S)


def _run(
    spark: Any, bootstrap: str, options: Mapping[str, str], of_format: str, folder: Path
) -> list[Any]:
    rows: list[Any] = []
    source = spark.readStream.format(of_format).options(**options)
    query = (
        source.option("kafka.bootstrap.servers", bootstrap)
        .load()
        .writeStream.foreachBatch(lambda frame, _: rows.extend(map(plain, frame.collect())))
        .option("checkpointLocation", str(folder))
        .trigger(availableNow=True)
        .start()
    )
    try:
        query.awaitTermination(_TIMEOUT_S)
    finally:
        query.stop()
    return sorted(rows, key=lambda row: row[2:5])


def _offsets(folder: Path) -> list[Any]:
    """Of each batch, as they stand in the checkpoint."""
    batches = sorted((folder / "offsets").glob("[0-9]*"), key=lambda path: int(path.name))
    return [json.loads(path.read_text().splitlines()[2]) for path in batches]
