"""The addresses of a host, as sockets take them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any, NoReturn

import pytest

from logquake.client import Admin
from logquake.client.driving.aside import OnThreads
from logquake.client.driving.names import addresses_of, place_of
from logquake.client.driving.sockets import SelectorSockets
from logquake.client.driving.thread import ThreadDriver
from logquake.client.driving.waker import Waker
from logquake.client.errors import ClosedError, TimedOutError
from logquake.client.network.settings import NetworkSettings
from logquake.wire.api import ApiKey
from logquake.wire.messages.metadata import MetadataResponse
from tests.net.asking import CLOCK, PATIENCE_MS, Asking, in_time, run_until, versions
from tests.net.server import Server
from tests.waiting import PATIENCE_S, wait_for

LOOPBACK = socket.if_nametoindex("lo")


def test_an_address_of_one_link_keeps_the_link() -> None:
    """As bootstrap.servers may have it: without it the system knows no way there."""
    (address,) = addresses_of("fe80::1%lo")
    assert place_of(address, 9092) == ("fe80::1", 9092, 0, LOOPBACK)


@pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="no IPv6 here")
def test_a_socket_takes_it() -> None:
    (address,) = addresses_of(f"::1%{LOOPBACK}")
    with (
        socket.create_server(("::1", 0), family=socket.AF_INET6) as listening,
        socket.socket(socket.AF_INET6) as ours,
    ):
        ours.connect(place_of(address, listening.getsockname()[1]))


def test_others_have_none() -> None:
    places = [place_of(each, 9092) for host in ("127.0.0.1", "::1") for each in addresses_of(host)]
    assert places == [("127.0.0.1", 9092), ("::1", 9092)]


class Lookups:
    """Of names that end in .slow, which are counted, until the test lets them."""

    def __init__(self) -> None:
        self.are_begun, self.may_end = Event(), Event()
        self.count = 0
        self._really: Callable[..., Any] = socket.getaddrinfo

    def __call__(self, host: str, *of: Any, **how: Any) -> Any:
        if host.endswith(".slow"):
            self.count += 1
            self.are_begun.set()
            self.may_end.wait()
            host = "127.0.0.1"
        return self._really(host, *of, **how)


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lookups]:
    lookups = Lookups()
    monkeypatch.setattr(socket, "getaddrinfo", lookups)
    yield lookups
    lookups.may_end.set()
    wait_for("the end of what was looked up", lambda: not looked_up())


def looked_up() -> bool:
    return any(each.name == "aside" for each in threading.enumerate())


def driving(asking: Asking) -> ThreadDriver:
    def new_sockets(waker: Waker) -> SelectorSockets:
        return SelectorSockets(CLOCK, waker=waker, names=OnThreads(waker))

    return ThreadDriver(asking, asking.links, CLOCK, new_sockets, name="ours")


@pytest.mark.usefixtures("lookups")
def test_a_name_that_is_looked_up_for_long_keeps_no_call_from_ending() -> None:
    admin = Admin(
        bootstrap_servers="one.slow:9092", default_api_timeout_ms=100, request_timeout_ms=100
    )
    with closing(admin), pytest.raises(TimedOutError):
        admin.list_topics().result(PATIENCE_S)
    assert looked_up()


def test_it_is_connected_to_once_its_addresses_are_known(server: Server, lookups: Lookups) -> None:
    server.handler.answer = lambda request: (
        versions() if request.header.api_key == ApiKey.API_VERSIONS else MetadataResponse()
    )
    asking = Asking("one.slow", server.acceptor.port)
    with closing(driving(asking)):
        assert lookups.are_begun.wait(PATIENCE_S)
        lookups.may_end.set()
        run_until(server, lambda: asking.answers)
    assert isinstance(asking.answers[0], MetadataResponse)


def test_one_that_takes_longer_than_a_connection_may_is_looked_up_once(
    server: Server, lookups: Lookups
) -> None:
    """The attempt that is under way when it ends has its addresses."""
    server.handler.answer = lambda request: (
        versions() if request.header.api_key == ApiKey.API_VERSIONS else MetadataResponse()
    )
    impatient = NetworkSettings(
        request_timeout_ms=PATIENCE_MS, connection_setup_timeout_ms=20, reconnect_backoff_ms=1
    )
    asking = Asking("one.slow", server.acceptor.port, settings=impatient)
    with closing(driving(asking)) as driver:
        assert driver.wait(lambda: asking.ended >= 3, in_time())
        assert lookups.are_begun.wait(PATIENCE_S)
        assert lookups.count == 1
        lookups.may_end.set()
        run_until(server, lambda: asking.answers)
    assert isinstance(asking.answers[0], MetadataResponse)


def test_a_lookup_that_is_interrupted_is_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> NoReturn:
        raise KeyboardInterrupt

    asking = Asking("one.slow", 9092, settings=NetworkSettings(reconnect_backoff_ms=0))
    monkeypatch.setattr(socket, "getaddrinfo", interrupted)
    with closing(SelectorSockets(CLOCK)) as sockets:
        for _ in range(2):
            asking.poll(CLOCK.now_ms())
            with pytest.raises(KeyboardInterrupt):
                sockets.perform(asking.links)
            asking.links.end_all(ClosedError("interrupted"), CLOCK.now_ms())
