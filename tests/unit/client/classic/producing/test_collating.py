"""Which partition a message of the older producer goes to."""

from __future__ import annotations

from random import Random

import pytest

from logquake.client.classic.errors import NoPartitionError
from logquake.client.classic.messages import Message
from logquake.client.classic.partitioner import DefaultPartitioner
from logquake.client.classic.producing.collating import Collation, Serialized
from logquake.client.classic.topic_metadata import Broker, PartitionMetadata
from logquake.client.errors import NoLeaderError
from logquake.client.settings import Address
from logquake.wire.topic_partition import TopicPartition

ONE, TWO = Broker(1, Address("one", 1)), Broker(2, Address("two", 2))
PARTITIONS = [PartitionMetadata(index, led) for index, led in enumerate((ONE, TWO, None, ONE))]


def of(key: object, payload: bytes = b"") -> Serialized:
    return Serialized("t", key, Message(payload))


def collation() -> Collation:
    return Collation(DefaultPartitioner(), Random(1))


def test_messages_are_gathered_by_leader_and_partition_in_order() -> None:
    messages = [of(1, b"a"), of(0, b"b"), of(5, b"c"), of(3, b"d"), of(2, b"e")]
    collated = collation().collate(messages, lambda _: PARTITIONS)
    shown = {
        leader: {place.partition: [each.message.payload for each in found]}
        for leader, by_place in collated.items()
        for place, found in by_place.items()
        if place.partition != 3
    }
    assert shown == {TWO: {1: [b"a", b"c"]}, ONE: {0: [b"b"]}, None: {2: [b"e"]}}
    assert collated[ONE][TopicPartition("t", 3)] == [of(3, b"d")]


def test_messages_without_a_key_stay_together_until_metadata_is_new() -> None:
    chosen = collation()
    places: set[TopicPartition] = set()
    for _ in range(50):
        (by_place,) = chosen.collate([of(None)] * 9, lambda _: PARTITIONS).values()
        assert len(by_place) == 1
        places.update(by_place)
        chosen.forget()
    assert {place.partition for place in places} == {0, 1, 3}


def test_a_topic_without_leaders() -> None:
    with pytest.raises(NoLeaderError):
        collation().collate([of(None)], lambda _: PARTITIONS[2:3])


def test_a_partitioner_that_leaves_the_range() -> None:
    class Wild:
        def partition(self, key: int, num_partitions: int) -> int:
            return num_partitions + key

    with pytest.raises(NoPartitionError, match="no partition 4: there are 4"):
        Collation(Wild(), Random(1)).collate([of(0)], lambda _: PARTITIONS)
