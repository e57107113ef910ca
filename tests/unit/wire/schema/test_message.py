from __future__ import annotations

import copy
import pickle

import pytest

from logquake.wire.schema import Message, Struct, array, int16, int32, string, struct, uuid
from logquake.wire.uuids import ZERO_UUID


class Leader(Struct):
    leader_id: int = int32(default=-1)
    leader_epoch: int = int32(default=-1)


class Topic(Message, versions="0-1", flexible="1+"):
    """A message with a field of every manner of default."""

    name: str = string()
    rack: str | None = string(nullable="0+", default=None)
    acks: int = int16(default=1)
    topic_id: bytes = uuid()
    partitions: list[int] = array(int32)
    owners: list[int] | None = array(int32, nullable="0+", default=None)
    leader: Leader = struct(Leader, "1+", tag=0)


def test_defaults_are_those_of_the_fields() -> None:
    topic = Topic()
    assert (topic.name, topic.rack, topic.acks, topic.topic_id) == ("", None, 1, ZERO_UUID)
    assert (topic.partitions, topic.owners) == ([], None)
    assert topic.leader == Leader()


def test_a_list_default_is_not_shared() -> None:
    Topic().partitions.append(1)
    assert Topic().partitions == []


def test_a_struct_default_is_shared_and_read_only() -> None:
    topic = Topic()
    assert topic.leader is Topic().leader
    with pytest.raises(AttributeError, match="shared default"):
        topic.leader.leader_id = 3
    topic.leader = Leader(leader_id=3)
    assert topic.leader.leader_id == 3


def test_equality_is_of_type_and_values() -> None:
    assert Topic(name="a") == Topic(name="a")
    assert Topic(name="a") != Topic(name="b")
    assert Leader() != Topic()
    assert Leader() != (-1, -1)


def test_a_message_cannot_be_hashed() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Topic())


def test_the_repr_shows_what_differs_from_the_defaults() -> None:
    topic = Topic(name="a", leader=Leader(leader_id=2))
    assert repr(topic) == "Topic(name='a', leader=Leader(leader_id=2))"
    assert repr(Topic().leader) == "Leader()"


def test_an_unknown_field_is_refused_everywhere() -> None:
    with pytest.raises(TypeError, match="nonsense"):
        Topic(nonsense=1)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        Topic().nonsense = 1  # type: ignore[attr-defined]


def test_a_message_can_be_copied() -> None:
    topic = Topic(name="a", partitions=[1, 2])
    assert copy.copy(topic) == topic
    assert pickle.loads(pickle.dumps(Leader(leader_id=4))) == Leader(leader_id=4)
