"""CreatePartitions, in every version that is served."""

from __future__ import annotations

import pytest

from logquake.node.requests.create_partitions import CreatePartitions
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import MetadataRequest
from logquake.wire.messages.topics import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from tests.unit.node.requests.lone_broker import LoneBroker

versions = pytest.mark.parametrize("version", CreatePartitions.versions)


def grow(
    *counts: tuple[str, int], timeout_ms: int = 5_000, validate_only: bool = False
) -> CreatePartitionsRequest:
    topics = [
        CreatePartitionsTopic(name=name, count=count, assignments=None) for name, count in counts
    ]
    return CreatePartitionsRequest(
        topics=topics, timeout_ms=timeout_ms, validate_only=validate_only
    )


def partitions(broker: LoneBroker, topic: str) -> dict[int, int]:
    """Leaders by partition."""
    (found,) = [
        each for each in broker.ask(MetadataRequest(topics=None), 12).topics if each.name == topic
    ]
    return {each.partition_index: each.leader_id for each in found.partitions}


@versions
def test_a_topic_grows_and_is_led(broker: LoneBroker, version: int) -> None:
    before = len(partitions(broker, "orders"))
    (result,) = broker.ask(grow(("orders", before + 2)), version).results
    assert (result.name, result.error_code, result.error_message) == ("orders", 0, None)
    assert partitions(broker, "orders") == dict.fromkeys(range(before + 2), 1)


@versions
def test_what_is_only_validated_does_not_grow(broker: LoneBroker, version: int) -> None:
    before = partitions(broker, "orders")
    (result,) = broker.ask(grow(("orders", 9), validate_only=True), version).results
    assert (result.error_code, partitions(broker, "orders")) == (0, before)


@versions
def test_each_topic_is_answered_by_itself(broker: LoneBroker, version: int) -> None:
    wanted = grow(("orders", 9), ("nowhere", 2), ("orders", 9), ("elsewhere", 0))
    results = broker.ask(wanted, version).results
    assert {each.name: (each.error_code, each.error_message) for each in results} == {
        "orders": (ErrorCode.INVALID_REQUEST, "Duplicate topic in request."),
        "nowhere": (
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "The topic 'nowhere' does not exist.",
        ),
        "elsewhere": (
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "The topic 'elsewhere' does not exist.",
        ),
    }


@versions
def test_without_time_to_wait_it_is_asked_for_all_the_same(
    broker: LoneBroker, version: int
) -> None:
    (result,) = broker.ask(grow(("orders", 5), timeout_ms=0), version).results
    assert (result.error_code, result.error_message) == (ErrorCode.REQUEST_TIMED_OUT, None)
    broker.settle()
    assert len(partitions(broker, "orders")) == 5
