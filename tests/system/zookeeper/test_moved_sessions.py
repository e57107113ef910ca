"""A session outlives the server that it was made at: it moves to the next."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

import pytest

from logquake.zk.kazoo_session import KazooSession
from logquake.zk.operations import Create, EventType, Exists, GetData, SetData, WatchEvent
from tests.system.zookeeper.client import Client
from tests.system.zookeeper.relay import Relay, relay_to
from tests.waiting import PATIENCE_S, wait_for

SESSION_TIMEOUT_MS = 12_000
ASKED_EVERY_S = 0.5


class Servers:
    """Three ways to one server, as good as three servers to whoever comes through."""

    def __init__(self, port: int, cleanup: ExitStack) -> None:
        self.relays = [cleanup.enter_context(relay_to(port)) for _ in range(3)]
        hosts = ",".join(f"127.0.0.1:{relay.port}" for relay in self.relays)
        open_session = partial(KazooSession, hosts, SESSION_TIMEOUT_MS, SESSION_TIMEOUT_MS)
        self.client = Client(open_session)
        cleanup.callback(self.client.session.close)

    def serving(self) -> Relay:
        """The one that is used, once what was shut and what only asked is gone."""
        (serving,) = wait_for(
            "one server in use",
            lambda: [relay for relay in self.relays if relay.is_used],
            lambda used: len(used) == 1,
        )
        return serving


@pytest.fixture
def servers(zookeeper_port: int) -> Iterator[Servers]:
    with ExitStack() as cleanup:
        yield Servers(zookeeper_port, cleanup)


def _connected(client: Client, times: int) -> bool:
    return client.log.count("connected") == times


def test_a_session_moves_with_its_nodes_and_watches(servers: Servers) -> None:
    client, first = servers.client, servers.serving()
    session = client.session_id
    client.perform(Create("/moved", ephemeral=True))
    client.perform(GetData("/moved", watch=True))
    first.shut()
    client.run_until(lambda: client.log.count("connected") == 2)
    assert client.session_id == session
    assert servers.serving() is not first
    assert client.perform(Exists("/moved")).ephemeral_owner == session
    client.perform(SetData("/moved", b"here"))
    assert client.events == [WatchEvent(EventType.CHANGED, "/moved")]


def test_a_silent_server_is_left_while_the_session_lives(servers: Servers) -> None:
    """However much is asked of it."""
    client, first = servers.client, servers.serving()
    session = client.session_id
    first.hold_answers()
    deadline = time.monotonic() + PATIENCE_S
    while not _connected(client, 2):
        assert time.monotonic() < deadline, client.log[-5:]
        client.submit(Exists("/"))
        client.run_for(ASKED_EVERY_S)
    first.release_answers()
    assert client.session_id == session
    assert "expired" not in client.log


def test_all_are_tried_before_one_that_was_lost_is_tried_again(servers: Servers) -> None:
    client, served = servers.client, []
    for moves in range(1, 4):
        serving = servers.serving()
        served.append(serving)
        serving.shut()
        serving.open()
        client.run_until(partial(_connected, client, 1 + moves))
    assert len(set(served)) == 3
    assert servers.serving() is served[0]
