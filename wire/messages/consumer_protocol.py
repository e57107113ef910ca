"""ConsumerProtocolSubscription, ConsumerProtocolAssignment."""

from __future__ import annotations

from logquake.wire.schema import (
    Message,
    Struct,
    array,
    binary,
    int32,
    string,
)


class OwnedTopicPartitions(Struct):
    topic: str = string("1+")
    partitions: list[int] = array(int32, "1+")


class ConsumerProtocolSubscription(Message, versions="0-3"):
    """ConsumerProtocolSubscription."""

    topics: list[str] = array(string)
    user_data: bytes | None = binary(nullable="0+", default=None)
    owned_partitions: list[OwnedTopicPartitions] = array(OwnedTopicPartitions, "1+", ignorable=True)
    generation_id: int = int32("2+", default=-1, ignorable=True)
    rack_id: str | None = string("3+", nullable="3+", default=None, ignorable=True)


class AssignedTopicPartitions(Struct):
    topic: str = string()
    partitions: list[int] = array(int32)


class ConsumerProtocolAssignment(Message, versions="0-3"):
    """ConsumerProtocolAssignment."""

    assigned_partitions: list[AssignedTopicPartitions] = array(AssignedTopicPartitions)
    user_data: bytes | None = binary(nullable="0+", default=None)
