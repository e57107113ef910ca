"""What members tell each other, and what becomes of bytes that are none of it."""

from __future__ import annotations

import pytest

from logquake.client.consumer.assignors.assignor import Held
from logquake.client.consumer.assignors.range import RangeAssignor
from logquake.client.consumer.assignors.sticky import StickyAssignor
from logquake.client.consumer.assignors.subscriptions import (
    Subscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from logquake.client.errors import MalformedResponseError
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.consumer.assignors.topics import without_racks


def places(topic: str, *partitions: int) -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(topic, partition) for partition in partitions)


def test_a_subscription_is_read_as_it_was_written() -> None:
    said = Subscription(("s", "t"), places("s", 1) + places("t", 0, 2), 7, "east", None, b"mine")
    assert decode_subscription(encode_subscription(said)) == said


def test_a_rack_without_a_name_is_none() -> None:
    assert decode_subscription(encode_subscription(Subscription(("t",), rack=""))).rack is None


def test_an_assignment_is_read_as_it_was_written() -> None:
    given = places("s", 1) + places("t", 0, 2)
    assert decode_assignment(encode_assignment(given)) == given
    assert decode_assignment(b"") == ()


@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"\x00\x00\x7f\xff\xff\xff", b"\xff\xff" + bytes(8)]
)
def test_what_is_no_subscription_is_told(data: bytes) -> None:
    with pytest.raises(MalformedResponseError):
        decode_subscription(data)


def test_static_members_keep_their_place_whatever_their_member_ids_are() -> None:
    members = {
        "z": Subscription(("t",), instance_id="1"),
        "y": Subscription(("t",), instance_id="2"),
        "a": Subscription(("t",)),
    }
    assigned = RangeAssignor().assign(without_racks({"t": 3}), members)
    assert assigned == {"z": [*places("t", 0)], "y": [*places("t", 1)], "a": [*places("t", 2)]}


def test_nobody_is_given_back_what_he_wants_no_more() -> None:
    """Of a generation before the last: Kafka gives t0-2 to c, which then joins for ever."""
    had = {
        "a": Held((*places("t0", 0, 2, 4), *places("t1", 1), *places("t2", 0, 2)), 5),
        "b": Held((*places("t0", 1, 3, 5), *places("t1", 2), *places("t2", 1, 3)), 5),
        "c": Held((*places("t0", 0, 2, 4), *places("t1", 0, 3)), 4),
    }
    wishes = {"a": ("t1", "t2"), "b": ("t0", "t1", "t2"), "c": ("t1",), "d": ("t0",)}
    assignor = StickyAssignor()
    members = {
        name: Subscription(topics, user_data=assignor.user_data(had.get(name)))
        for name, topics in wishes.items()
    }
    assigned = assignor.assign(without_racks({"t0": 6, "t1": 4, "t2": 4}), members)
    assert {place.topic for place in assigned["c"]} == {"t1"}
