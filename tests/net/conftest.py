"""Servers in the test's own thread, and what they run on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import MappingProxyType

import pytest

from logquake.node.net.admittance import Admittances
from logquake.node.net.limits import ConnectionLimits
from logquake.node.net.loop import EventLoop
from tests.doubles.clock import ManualClock
from tests.net.proxied import Links
from tests.net.server import Server, ServerFactory


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def new_server() -> Iterator[ServerFactory]:
    servers: list[Server] = []

    def make(
        limits: ConnectionLimits,
        clock: ManualClock | None = None,
        admittances: Admittances = MappingProxyType({}),
    ) -> Server:
        servers.append(Server(limits, clock, admittances))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


@pytest.fixture
def server(new_server: ServerFactory) -> Server:
    return new_server(ConnectionLimits())


@pytest.fixture
def loop() -> Iterator[EventLoop]:
    loop = EventLoop()
    yield loop
    loop.close()


@pytest.fixture
def links() -> Iterator[Links]:
    with contextlib.ExitStack() as stack:
        yield Links(stack)


@pytest.fixture
def live(links: Links) -> Links:
    """A broker listens."""
    links.listen()
    links.until(lambda: not links.refuses() or None)
    return links
