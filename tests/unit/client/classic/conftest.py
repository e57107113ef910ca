"""Channels of the older APIs to the cluster in memory, and clients of a ZooKeeper in memory."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest

from logquake.client.classic.channel import BlockingChannel, Dial
from logquake.client.classic.coordination.client import ZkClient
from logquake.client.settings import Address
from tests.unit.client.classic.model_zookeeper import SharedZooKeeper
from tests.unit.client.cluster_in_memory import FakeClock, FakeNetwork

NewZk = Callable[..., ZkClient]


@pytest.fixture
def dial(network: FakeNetwork, clock: FakeClock) -> Iterator[Dial]:
    with contextlib.ExitStack() as opened:

        def dial(address: Address, client_id: str, timeout_ms: int) -> BlockingChannel:
            channel = BlockingChannel(
                address,
                client_id,
                timeout_ms,
                clock=clock,
                new_sockets=lambda _clock, _waker: network.new_sockets(),
            )
            opened.callback(channel.disconnect)
            return channel

        yield dial


@pytest.fixture
def zookeeper() -> SharedZooKeeper:
    return SharedZooKeeper()


@pytest.fixture
def new_zk(zookeeper: SharedZooKeeper) -> Iterator[NewZk]:
    """Clients of the one ZooKeeper; each notes what it is told."""
    with contextlib.ExitStack() as opened:

        def new(told: list[str] | None = None, call_timeout_ms: int = 90_000) -> ZkClient:
            noted: list[str] = [] if told is None else told
            client = ZkClient(
                zookeeper.open_session,
                connection_timeout_ms=90_000,
                call_timeout_ms=call_timeout_ms,
                on_watch=lambda event: noted.append(event.path),
                on_new_session=lambda: noted.append("a new session"),
            )
            opened.callback(client.close)
            return client

        yield new
