"""Kafka's RangeAssignor, by the cases of its own documentation."""

from __future__ import annotations

from logquake.client.groups import decode_assignment
from logquake.client.range_assignor import assign, encode_assignment
from logquake.wire.topic_partition import TopicPartition


def places(topic: str, *partitions: int) -> list[TopicPartition]:
    return [TopicPartition(topic, partition) for partition in partitions]


def test_who_comes_first_gets_what_cannot_be_shared() -> None:
    assert assign({"b": ["t"], "a": ["t"]}, {"t": 3}) == {
        "a": places("t", 0, 1),
        "b": places("t", 2),
    }


def test_topics_are_shared_by_those_who_want_them() -> None:
    assert assign({"a": ["s", "t"], "b": ["t"]}, {"s": 2, "t": 2}) == {
        "a": places("s", 0, 1) + places("t", 0),
        "b": places("t", 1),
    }


def test_more_members_than_partitions_and_a_topic_that_is_gone() -> None:
    assert assign({"a": ["t", "gone"], "b": ["t"]}, {"t": 1}) == {"a": places("t", 0), "b": []}


def test_an_assignment_is_read_as_it_was_written() -> None:
    given = places("s", 1) + places("t", 0, 2)
    assert decode_assignment(encode_assignment(given)) == tuple(given)
