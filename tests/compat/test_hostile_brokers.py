"""What clients make of brokers that answer with nonsense, or not at all: an error, in time.

An honest broker of ours is behind a proxy that does something to one answer in three. Each call
ends, with a result or with an error of ours, and no client's thread ends of it. Once the broker is
honest again a client works, if it cannot have taken a lie for the truth: nobody unlearns a leader
epoch of the far future.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from logquake.client import Admin, Consumer, Producer, aio
from logquake.client.errors import ClientError
from logquake.cluster.api import Cluster
from logquake.wire.topic_partition import TopicPartition
from tests.by_hand import broker_by_hand, own_chroot
from tests.compat.hostile_proxy import (
    HOSTILITIES,
    UNMISTAKABLE,
    HostileProxy,
    honest,
    hostile_proxy,
)
from tests.compat.twins import TWIN_ID, Twin, places_of
from tests.one_broker import held_ports
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.slow

TOPIC = "orders"
PATIENCE_MS = int(PATIENCE_S * 1000)
HASTE = {
    "request.timeout.ms": 400,
    "retry.backoff.ms": 20,
    "retry.backoff.max.ms": 50,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 50,
    "socket.connection.setup.timeout.ms": 400,
    "socket.connection.setup.timeout.max.ms": 400,
}


@pytest.fixture(scope="module")
def proxy(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileProxy]:
    folder: Path = tmp_path_factory.mktemp("hostile")
    with hostile_proxy() as proxy, held_ports(1) as (port,):
        twin = Twin(port, own_chroot(cluster.zookeeper_connect, folder.name))
        properties = {
            "broker.id": TWIN_ID,
            **places_of(twin, folder / "data"),
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{proxy.port}",
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 1,
            "group.initial.rebalance.delay.ms": 0,
            "group.min.session.timeout.ms": 500,
        }
        with broker_by_hand(folder, properties):
            proxy.target = port
            twin.wait_to_know({TWIN_ID})
            assert twin.create(TOPIC, 2) == ("NONE", None)
            with Producer({"bootstrap.servers": f"127.0.0.1:{port}"}) as producer:
                producer.send(TOPIC, b"there", partition=0).result(PATIENCE_S)
            yield proxy


@pytest.fixture(params=HOSTILITIES)
def hostile(
    proxy: HostileProxy, request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> Iterator[HostileProxy]:
    proxy.random = Random(request.param)
    proxy.hostility = HOSTILITIES[request.param]
    yield proxy
    proxy.hostility = honest
    failed = [each for each in caplog.records if each.levelno >= logging.ERROR]
    assert not failed, [each.getMessage() for each in failed]


def keys(proxy: HostileProxy, **others: Any) -> dict[str, Any]:
    servers = {"bootstrap.servers": f"127.0.0.1:{proxy.port}"}
    return servers | HASTE | {name.replace("_", "."): value for name, value in others.items()}


def test_a_producer(hostile: HostileProxy) -> None:
    config = keys(hostile, max_block_ms=2_000, delivery_timeout_ms=2_000)
    for _ in range(2):
        with Producer(config) as producer:
            sent = []
            for number in range(10):
                with suppress(ClientError):
                    sent.append(producer.send(TOPIC, b"%d" % number))
                    producer.flush(100)
            for future in sent:
                with suppress(ClientError):
                    future.result(PATIENCE_S)
    hostile.hostility = honest
    with Producer(config | {"max.block.ms": PATIENCE_MS}) as producer:
        producer.send(TOPIC, b"last").result(PATIENCE_S)


def test_a_transactional_producer(hostile: HostileProxy) -> None:
    config = keys(
        hostile,
        max_block_ms=3_000,
        delivery_timeout_ms=2_000,
        transactional_id=hostile.hostility.__name__,
    )
    for _ in range(2):
        with Producer(config) as producer, suppress(ClientError):
            producer.init_transactions()
            producer.begin_transaction()
            producer.send(TOPIC, b"maybe")
            producer.commit_transaction()


def test_a_consumer_of_partitions(hostile: HostileProxy) -> None:
    config = keys(hostile, default_api_timeout_ms=1_000, auto_offset_reset="earliest")
    place = TopicPartition(TOPIC, 0)
    with Consumer(config) as consumer:
        consumer.assign([place])
        for _ in range(2):
            for ask in (
                lambda: consumer.poll(500),
                lambda: consumer.position(place),
                lambda: consumer.end_offsets([place]),
                consumer.list_topics,
            ):
                with suppress(ClientError):
                    ask()
        if hostile.hostility in UNMISTAKABLE:
            hostile.hostility = honest
            consumer.seek_to_beginning([place])
            wait_for("a record", lambda: polled(consumer), bool)


def test_a_member_of_a_group(hostile: HostileProxy) -> None:
    config = keys(
        hostile,
        default_api_timeout_ms=1_000,
        auto_offset_reset="earliest",
        group_id=f"group-{hostile.hostility.__name__}",
        heartbeat_interval_ms=100,
        session_timeout_ms=1_000,
        max_poll_interval_ms=3_000,
    )
    with Consumer(config) as consumer:
        consumer.subscribe([TOPIC])
        for _ in range(2):
            with suppress(ClientError):
                consumer.poll(500)
            with suppress(ClientError):
                consumer.commit(timeout_ms=1_000)
        if hostile.hostility in UNMISTAKABLE:
            hostile.hostility = honest
            wait_for("an assignment", lambda: (polled(consumer), consumer.assignment())[1], bool)


def polled(consumer: Consumer) -> list[Any]:
    """A last error of the time before may still be told."""
    with suppress(ClientError):
        return list(consumer.poll(200))
    return []


def test_an_admin_client(hostile: HostileProxy) -> None:
    config = keys(hostile, default_api_timeout_ms=1_000)
    with Admin(config) as admin:
        for _ in range(2):
            for ask in (admin.list_topics, admin.describe_cluster, admin.list_consumer_groups):
                with suppress(ClientError):
                    ask().result(PATIENCE_S)
            for future in admin.describe_topics([TOPIC, "nowhere"]).values():
                with suppress(ClientError):
                    future.result(PATIENCE_S)


def test_on_asyncios_loop(hostile: HostileProxy) -> None:
    config = keys(hostile, max_block_ms=2_000, delivery_timeout_ms=2_000)

    async def send() -> None:
        async with aio.Producer(config) as producer:
            for number in range(10):
                with suppress(ClientError):
                    await (await producer.send(TOPIC, b"%d" % number))

    asyncio.run(asyncio.wait_for(send(), PATIENCE_S))
