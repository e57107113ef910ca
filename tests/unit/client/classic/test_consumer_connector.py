"""A connector on a cluster and a ZooKeeper in memory, from its streams to its last commit."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from logquake.client import classic
from logquake.client.classic.channel import Dial
from logquake.client.classic.consumer_connector import ConsumerConnector
from logquake.client.classic.consuming import group as znodes
from logquake.client.classic.coordination import nodes
from logquake.client.classic.coordination.client import ZkClient
from logquake.client.classic.errors import StreamsExistError
from logquake.client.classic.messages import Message, encode_messages
from logquake.client.errors import ClosedError
from logquake.client.settings import Address
from logquake.wire.api import ApiKey
from logquake.wire.compression import Codec
from logquake.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from logquake.wire.messages.offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.znodes.topics import TopicAssignment
from tests.unit.client.classic.conftest import NewZk
from tests.unit.client.classic.model_zookeeper import SharedZooKeeper
from tests.unit.client.cluster_in_memory import FakeNetwork
from tests.waiting import wait_for

PLACES = [TopicPartition("t", 0), TopicPartition("t", 1)]
DATA = encode_messages([Message(b"a"), Message(b"b")], Codec.NONE)

New = Callable[..., ConsumerConnector]


def fetched(request: Any, _: Address) -> FetchResponse:
    """Two messages in each partition."""
    return FetchResponse(
        responses=[
            FetchableTopicResponse(
                topic=topic.topic,
                partitions=[
                    PartitionData(
                        partition_index=each.partition,
                        error_code=0,
                        high_watermark=2,
                        records=b"" if each.fetch_offset else DATA,
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def earliest(request: Any, _: Address) -> ListOffsetsResponse:
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    ListOffsetsPartitionResponse(
                        partition_index=each.partition_index, error_code=0, old_style_offsets=[0]
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


@pytest.fixture
def zk(new_zk: NewZk, network: FakeNetwork) -> ZkClient:
    """Of a cluster with the topic "t"."""
    network.handlers[ApiKey.FETCH] = fetched
    network.handlers[ApiKey.LIST_OFFSETS] = earliest
    zk = new_zk()
    for broker_id, host in ((1, "one"), (2, "two")):
        data = json.dumps({"host": host, "port": 9092}).encode()
        zk.run(nodes.put(f"/brokers/ids/{broker_id}", data))
    assignment = TopicAssignment(None, {0: (1,), 1: (2,)})
    zk.run(nodes.put(TopicAssignment.path("t"), assignment.encode()))
    return zk


@pytest.fixture
def new(zk: ZkClient, zookeeper: SharedZooKeeper, dial: Dial) -> New:
    assert zk.session_id

    def new(**keys: object) -> ConsumerConnector:
        given: dict[str, object] = {
            "zookeeper.connect": "model",
            "group.id": "g",
            "auto.offset.reset": "smallest",
            "zookeeper.session.timeout.ms": 60_000,
            "rebalance.backoff.ms": 1,
            "rebalance.max.retries": 1_000,
        }
        given |= {key.replace("_", "."): value for key, value in keys.items()}
        return ConsumerConnector(given, open_session=zookeeper.open_session, dial=dial)

    return new


def owners(zk: ZkClient) -> list[str | None]:
    found = [zk.run(nodes.read(znodes.owner_path("g", place))) for place in PLACES]
    return [None if each is None else each.data.decode().rpartition("-")[0] for each in found]


def test_streams_hand_out_what_is_there_and_the_end_is_committed(new: New, zk: ZkClient) -> None:
    with new() as connector:
        first, second = connector.create_message_streams({"t": 2})["t"]
        taken = [next(first), next(first), next(second)]
        assert [(each.partition, each.message) for each in taken] == [
            (0, b"a"),
            (0, b"b"),
            (1, b"a"),
        ]
        assert connector.metrics()["OwnedPartitionsCount"] == 2
        with pytest.raises(StreamsExistError):
            connector.create_message_streams({"t": 1})
    assert zk.run(znodes.offsets_of("g", PLACES)) == dict(zip(PLACES, (2, 1), strict=True))
    assert owners(zk) == [None, None]
    assert (list(first), list(second)) == ([], [])
    with pytest.raises(ClosedError):
        connector.create_message_streams_by_filter(classic.Whitelist("t"))


def test_two_share_and_one_takes_over(new: New, zk: ZkClient) -> None:
    with new(consumer_id="first") as first:
        first.create_message_streams({"t": 1})
        with new(consumer_id="second") as second:
            second.create_message_streams_by_filter(classic.Whitelist("t.*"))
            wait_for("shares", lambda: owners(zk), lambda found: found == ["g_first", "g_second"])
        wait_for("all", first.owned, lambda owned: owned == PLACES)


def test_a_session_that_ends_is_followed_by_another(
    new: New, zk: ZkClient, zookeeper: SharedZooKeeper
) -> None:
    with new(consumer_id="only") as connector:
        connector.create_message_streams({"t": 1})
        there = zk.run(nodes.read(znodes.owner_path("g", PLACES[0])))
        assert there is not None
        ended = there.stat.ephemeral_owner
        zookeeper.expire(ended)

        def owning_session() -> int:
            found = zk.run(nodes.read(znodes.owner_path("g", PLACES[0])))
            return 0 if found is None else found.stat.ephemeral_owner

        wait_for("claim", owning_session, lambda found: found not in (0, ended))
        assert zk.run(nodes.read(f"{znodes.ids_path('g')}/g_only")) is not None


def test_names_are_handed_out() -> None:
    assert classic.ConsumerConnector is ConsumerConnector
    with pytest.raises(AttributeError, match=r"logquake\.client\.classic has no Consumer"):
        _ = classic.Consumer
