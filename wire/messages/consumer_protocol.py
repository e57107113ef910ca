"""What consumers tell each other inside JoinGroup and SyncGroup.

On the wire a two-byte version stands in front (``wire/versioned.py``). A reader takes a version
newer than it knows for the newest it knows: later ones may only append fields.
"""

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
    """What a consumer wants: the metadata of its JoinGroup.

    1: owned_partitions (KIP-429). 2: generation_id (KIP-792). 3: rack_id (KIP-881).
    """

    topics: list[str] = array(string)
    user_data: bytes | None = binary(nullable="0+", default=None)
    owned_partitions: list[OwnedTopicPartitions] = array(OwnedTopicPartitions, "1+", ignorable=True)
    generation_id: int = int32("2+", default=-1, ignorable=True)
    rack_id: str | None = string("3+", nullable="3+", default=None, ignorable=True)


class AssignedTopicPartitions(Struct):
    topic: str = string()
    partitions: list[int] = array(int32)


class ConsumerProtocolAssignment(Message, versions="0-3"):
    """What a consumer gets: the assignment of its SyncGroup.

    The versions follow the subscription's.
    """

    assigned_partitions: list[AssignedTopicPartitions] = array(AssignedTopicPartitions)
    user_data: bytes | None = binary(nullable="0+", default=None)
