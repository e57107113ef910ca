"""What a consumer sees of its group in ZooKeeper, and what it writes there."""

from __future__ import annotations

import json

import pytest

from logquake.client.classic.consuming import group as znodes
from logquake.client.classic.consuming.assignment import ThreadId
from logquake.client.classic.consuming.registration import (
    StaticTopics,
    TopicCount,
    Wildcard,
    encode_registration,
)
from logquake.client.classic.consuming.topic_filter import Whitelist
from logquake.client.classic.coordination import nodes
from logquake.client.classic.coordination.brokers import live_brokers
from logquake.client.classic.coordination.client import ZkClient
from logquake.client.classic.errors import NotRegisteredError
from logquake.client.classic.topic_metadata import Broker
from logquake.client.settings import Address
from logquake.wire.sentinels import UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.znodes.topics import TopicAssignment
from tests.unit.client.classic.conftest import NewZk
from tests.waiting import wait_for

FIRST, SECOND = TopicPartition("t", 0), TopicPartition("t", 1)


def make_topic(zk: ZkClient, topic: str, partitions: int) -> None:
    assignment = TopicAssignment(None, dict.fromkeys(range(partitions), (1,)))
    zk.run(nodes.put(TopicAssignment.path(topic), assignment.encode()))


def make_broker(zk: ZkClient, broker_id: int, host: object, port: int) -> None:
    data = json.dumps({"host": host, "port": port, "version": 1}).encode()
    zk.run(nodes.put(f"/brokers/ids/{broker_id}", data))


def register(zk: ZkClient, consumer: str, wanted: TopicCount) -> None:
    path = f"{znodes.ids_path('g')}/{consumer}"
    assert zk.run(nodes.claim(path, encode_registration(wanted, 5), zk.session_id))


def look(zk: ZkClient, consumer: str) -> znodes.Seen:
    return zk.run(znodes.look("g", consumer, exclude_internal=True))


def test_the_streams_of_all_and_the_partitions_of_ones_own_topics(new_zk: NewZk) -> None:
    zk = new_zk()
    make_broker(zk, 1, "one", 9092)
    make_topic(zk, "t", 3)
    make_topic(zk, "u", 1)
    register(zk, "a", StaticTopics({"t": 2, "later": 1}))
    register(zk, "b", Wildcard(Whitelist("."), 1))
    seen = look(zk, "a")
    assert seen.has_brokers
    assert seen.view.streams == {
        "t": [ThreadId("a", 0), ThreadId("a", 1), ThreadId("b", 0)],
        "later": [ThreadId("a", 0)],
        "u": [ThreadId("b", 0)],
    }
    assert seen.view.partitions == {"t": [0, 1, 2], "later": []}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda zk: register(zk, "b", StaticTopics({"t": 1})), "/consumers/g/ids"),
        (lambda zk: make_topic(zk, "t", 5), "/brokers/topics/t"),
        (lambda zk: make_topic(zk, "later", 1), "/brokers/topics/later"),
        (lambda zk: make_broker(zk, 1, "one", 9092), "/brokers/ids"),
    ],
    ids=["consumers", "partitions", "topics", "the first broker"],
)
def test_whatever_it_looked_at_is_watched(new_zk: NewZk, change: object, told: str) -> None:
    noted: list[str] = []
    zk, other = new_zk(noted), new_zk()
    zk.run(nodes.put("/brokers/ids", b""))
    make_topic(zk, "t", 3)
    register(zk, "a", StaticTopics({"t": 1, "later": 1}))
    assert not look(zk, "a").has_brokers
    assert callable(change)
    change(other)
    wait_for("event", lambda: noted, lambda found: told in found)


def test_who_is_not_registered_sees_nothing(new_zk: NewZk) -> None:
    with pytest.raises(NotRegisteredError):
        look(new_zk(), "a")


def test_all_is_owned_or_nothing(new_zk: NewZk) -> None:
    one, two = new_zk(), new_zk()
    mine = {FIRST: ThreadId("a", 0)}
    both = {FIRST: ThreadId("b", 0), SECOND: ThreadId("b", 1)}
    assert one.run(znodes.claim("g", mine, one.session_id))
    assert not two.run(znodes.claim("g", both, two.session_id))
    assert one.run(nodes.read(znodes.owner_path("g", SECOND))) is None
    one.run(znodes.release("g", [FIRST], one.session_id))
    assert two.run(znodes.claim("g", both, two.session_id))
    owner = one.run(nodes.read(znodes.owner_path("g", SECOND)))
    assert owner is not None
    assert owner.data == b"b-1"


def test_offsets(new_zk: NewZk) -> None:
    zk = new_zk()
    zk.run(znodes.put_offsets("g", {FIRST: 5}))
    zk.run(znodes.put_offsets("g", {FIRST: 7}))
    assert zk.run(znodes.offsets_of("g", [FIRST, SECOND])) == {FIRST: 7, SECOND: UNKNOWN_OFFSET}


def test_brokers_that_can_be_reached_in_plain_text(new_zk: NewZk) -> None:
    zk = new_zk()
    assert zk.run(live_brokers()) == []
    make_broker(zk, 10, "ten", 9092)
    make_broker(zk, 2, "two", 9093)
    make_broker(zk, 3, None, -1)
    assert zk.run(live_brokers()) == [
        Broker(2, Address("two", 9093)),
        Broker(10, Address("ten", 9092)),
    ]
