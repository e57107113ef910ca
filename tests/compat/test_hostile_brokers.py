"""What clients make of brokers that answer with nonsense, or not at all: an error, in time.

An honest broker of ours is behind a proxy that does something to one answer in three. Each call
ends, with a result or with an error of ours, and no client's thread ends of it. Once the broker is
honest again a client works, if it cannot have taken a lie for the truth: nobody unlearns a leader
epoch of the far future.
"""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from logquake.client import Consumer, Producer
from logquake.client.errors import ClientError
from logquake.cluster.api import Cluster
from logquake.wire.topic_partition import TopicPartition
from tests.by_hand import broker_by_hand, own_chroot
from tests.compat.hostile_calls import (
    HASTE,
    MEMBERSHIP,
    administer,
    on_one_loop,
    produce,
    questions_of,
)
from tests.compat.hostile_proxy import (
    HOSTILITIES,
    UNMISTAKABLE,
    WASTEFUL,
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
# Of eight clients. Of a flood three of them, consumers, may take in what they asked records for.
BOUND_MIB = dict.fromkeys(WASTEFUL, 64) | {"flood": 64 + 3 * 128}


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
    # Not what a broker refuses, a member's commit say, but what a client's thread ends by.
    failed = [each for each in caplog.records if each.levelno >= logging.ERROR and each.exc_info]
    assert not failed, [each.getMessage() for each in failed]


def keys(proxy: HostileProxy, **others: Any) -> dict[str, Any]:
    servers = {"bootstrap.servers": f"127.0.0.1:{proxy.port}"}
    return servers | HASTE | {name.replace("_", "."): value for name, value in others.items()}


def test_a_producer(hostile: HostileProxy) -> None:
    for _ in range(2):
        produce(keys(hostile), TOPIC)
    hostile.hostility = honest
    servers = f"127.0.0.1:{hostile.port}"
    with Producer(
        bootstrap_servers=servers, max_block_ms=PATIENCE_MS, delivery_timeout_ms=PATIENCE_MS
    ) as producer:
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
    config = {**keys(hostile), **MEMBERSHIP}
    place = TopicPartition(TOPIC, 0)
    with Consumer(config) as consumer:
        consumer.assign([place])
        for ask in 2 * questions_of(consumer, place):
            with suppress(ClientError):
                ask()
        if hostile.hostility in UNMISTAKABLE:
            hostile.hostility = honest
            consumer.seek_to_beginning([place])
            wait_for("a record", lambda: polled(consumer), bool)


def test_a_member_of_a_group(hostile: HostileProxy) -> None:
    config = {**keys(hostile), **MEMBERSHIP, "group.id": f"group-{hostile.hostility.__name__}"}
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
    for _ in range(2):
        administer(keys(hostile), TOPIC)


def test_on_asyncios_loop(hostile: HostileProxy) -> None:
    """A producer, a consumer, a member of a group and an admin client at once."""
    asyncio.run(on_one_loop(keys(hostile), TOPIC))


def test_their_memory_is_bounded(proxy: HostileProxy) -> None:
    """That of eight clients together: what they were sent, and what that is decoded to."""
    program = [sys.executable, "-m", "tests.compat.hostile_calls", str(proxy.port), TOPIC]
    with closed_pipes(program) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "honest\n"
        grown_mib: dict[str, int] = {}
        for name, hostility in WASTEFUL.items():
            proxy.hostility = hostility
            process.stdin.write("\n")
            process.stdin.flush()
            before_kib, peak_kib = map(int, process.stdout.readline().split())
            grown_mib[name] = (peak_kib - before_kib) // 1024
        proxy.hostility = honest
    assert {name: mib for name, mib in grown_mib.items() if mib > BOUND_MIB[name]} == {}


@contextmanager
def closed_pipes(program: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.communicate(timeout=PATIENCE_S)
