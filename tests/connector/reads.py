"""Batches read through either format: the same rows, of each option."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from tests.connector.outcomes import Case, Done
from tests.connector.topics import BILLS, DECIDED, FIRST_MS, LOST, ORDERS, STEP_MS

_MIDDLE_MS = FIRST_MS + 20 * STEP_MS
_LATE_MS = FIRST_MS + 1_000 * STEP_MS
_OF = {"subscribe": ORDERS}
_MIDDLES = json.dumps({ORDERS: {"0": _MIDDLE_MS, "1": FIRST_MS, "2": _MIDDLE_MS + 5}})
_NOT_OURS = "ours does not have it, and refuses it"
_NO_TOPIC = {"subscribe": "there-is-none"}


def plain(row: Any) -> tuple[Any, ...]:
    """With bytes that compare, and times without a zone."""
    return tuple(_plain(value) for value in row)


def _plain(value: Any) -> Any:
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value


def read_cases(spark: Any, bootstrap: str) -> list[Case]:
    def case(name: str, options: Mapping[str, str], differs: str | None = None) -> Case:
        return Case(name, partial(_read, spark, bootstrap, options), differs)

    return [
        case("subscribe", _OF),
        case("subscribe, two topics", {"subscribe": f"{BILLS},{ORDERS}"}),
        case("subscribePattern", {"subscribePattern": "or.*|bil+s"}),
        case("assign", {"assign": json.dumps({ORDERS: [0, 2], BILLS: [1]})}),
        case("two ways to choose", {**_OF, "subscribePattern": ".*"}),
        case("no way to choose", {}),
        case(
            "offsets",
            {
                **_OF,
                "startingOffsets": json.dumps({ORDERS: {"0": 3, "1": -2, "2": 13}}),
                "endingOffsets": json.dumps({ORDERS: {"0": 9, "1": -1, "2": 13}}),
            },
        ),
        case(
            "offsets of some partitions",
            {**_OF, "startingOffsets": json.dumps({ORDERS: {"0": 3}})},
        ),
        case(
            "offsets of a partition that there is not",
            {**_OF, "startingOffsets": json.dumps({ORDERS: {str(at): 0 for at in range(4)}})},
        ),
        case("startingOffsets latest", {**_OF, "startingOffsets": "latest"}),
        case("endingOffsets earliest", {**_OF, "endingOffsets": "earliest"}),
        case(
            "startingOffsets latest of a partition",
            {**_OF, "startingOffsets": json.dumps({ORDERS: {"0": -1, "1": 0, "2": 0}})},
        ),
        case("startingTimestamp", {**_OF, "startingTimestamp": str(_MIDDLE_MS)}),
        case("endingTimestamp", {**_OF, "endingTimestamp": str(_MIDDLE_MS)}),
        case("startingOffsetsByTimestamp", {**_OF, "startingOffsetsByTimestamp": _MIDDLES}),
        case("endingOffsetsByTimestamp", {**_OF, "endingOffsetsByTimestamp": _MIDDLES}),
        case("a time behind all", {**_OF, "startingTimestamp": str(_LATE_MS)}),
        case(
            "a time behind all, strategy latest",
            {
                **_OF,
                "startingTimestamp": str(_LATE_MS),
                "startingOffsetsByTimestampStrategy": "latest",
            },
        ),
        case("an ending time behind all", {**_OF, "endingTimestamp": str(_LATE_MS)}),
        case("minPartitions", {**_OF, "minPartitions": "7"}),
        case("maxRecordsPerPartition", {**_OF, "maxRecordsPerPartition": "4"}),
        case("includeHeaders", {**_OF, "includeHeaders": "true"}),
        case("deleted records, from the earliest", {"subscribe": LOST}),
        case("deleted records", {"subscribe": LOST, "startingOffsets": _at(LOST, 2)}),
        case(
            "deleted records, failOnDataLoss=false",
            {"subscribe": LOST, "startingOffsets": _at(LOST, 2), "failOnDataLoss": "false"},
        ),
        case("beyond the end", {"subscribe": LOST, "endingOffsets": _at(LOST, 45)}),
        case("read_uncommitted", {"subscribe": DECIDED}),
        case("read_committed", {"subscribe": DECIDED, "kafka.isolation.level": "read_committed"}),
        case("an unknown topic", _NO_TOPIC),
        case(
            "an option that there is not",
            {**_OF, "startingOfsets": "latest"},
            "the connector ignores it and reads all, ours refuses it",
        ),
        case(
            "kafka.group.id",
            {**_OF, "kafka.group.id": "known"},
            "ours refuses it: its readers are in no group",
        ),
        case("kafka.enable.auto.commit", {**_OF, "kafka.enable.auto.commit": "true"}),
        case("kafka.auto.offset.reset", {**_OF, "kafka.auto.offset.reset": "earliest"}),
        case("groupIdPrefix", {**_OF, "groupIdPrefix": "mine"}, _NOT_OURS),
        case("fetchOffset.numRetries", {**_OF, "fetchOffset.numRetries": "3"}, _NOT_OURS),
        case(
            "kafkaConsumer.pollTimeoutMs", {**_OF, "kafkaConsumer.pollTimeoutMs": "9000"}, _NOT_OURS
        ),
    ]


def _at(topic: str, offset: int) -> str:
    return json.dumps({topic: {"0": offset}})


def _read(spark: Any, bootstrap: str, options: Mapping[str, str], of_format: str) -> Done:
    reader = spark.read.format(of_format).options(**options)
    frame = reader.option("kafka.bootstrap.servers", bootstrap).load()
    return [tuple(frame.columns), *sorted(map(plain, frame.collect()), key=lambda row: row[2:5])]
