"""A held connection: what is told when a broker listens, ends, or never was there."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from logquake.node.net.channel import TcpNetwork
from logquake.node.net.connector import meets_itself
from logquake.node.net.link import LinkSettings
from logquake.node.net.listener import bind_listener
from logquake.node.net.tether import TcpTether
from logquake.seams.network import Disconnected, Endpoint

Server = Any  # conftest's
Hold = Callable[..., TcpTether]


@pytest.fixture
def told() -> list[str | Disconnected]:
    return []


@pytest.fixture
def hold(server: Server, told: list[str | Disconnected]) -> Iterator[Hold]:
    tethers: list[TcpTether] = []

    def make(port: int, host: str = "127.0.0.1") -> TcpTether:
        network = TcpNetwork(server.loop, LinkSettings())
        endpoint = Endpoint(1, host, port)
        tethers.append(network.tether(endpoint, lambda: told.append("held"), told.append))
        assert told == []  # never from within
        return tethers[-1]

    yield make
    for tether in tethers:
        tether.close()


def test_it_is_held_until_the_broker_ends(
    server: Server, hold: Hold, told: list[str | Disconnected]
) -> None:
    hold(server.acceptor.port)
    server.until(lambda: told == ["held"])
    server.processor.close()
    server.until(lambda: len(told) == 2)
    assert told[1] == Disconnected("closed by the broker")


def test_nobody_listening_is_a_refusal(
    server: Server, hold: Hold, told: list[str | Disconnected]
) -> None:
    with bind_listener("127.0.0.1", 0) as silent:
        port = silent.getsockname()[1]
        hold(port)
        server.until(lambda: bool(told))
    why = f"cannot connect to 127.0.0.1:{port}: Connection refused"
    assert told == [Disconnected(why, refused=True)]


def test_a_frozen_process_accepts_all_the_same(
    server: Server, hold: Hold, told: list[str | Disconnected]
) -> None:
    """Its system does."""
    with bind_listener("127.0.0.1", 0) as frozen:
        frozen.listen()
        hold(frozen.getsockname()[1])
        server.until(lambda: told == ["held"])


def test_what_else_goes_wrong_is_no_refusal(
    server: Server, hold: Hold, told: list[str | Disconnected]
) -> None:
    hold(9, "255.255.255.255")
    server.until(lambda: bool(told))
    assert isinstance(told[0], Disconnected)
    assert not told[0].refused


def test_nothing_is_told_once_it_is_closed(
    server: Server, hold: Hold, told: list[str | Disconnected]
) -> None:
    hold(server.acceptor.port).close()
    server.settle()
    tether = hold(server.acceptor.port)
    server.until(lambda: told == ["held"])
    tether.close()
    server.until(lambda: len(server.processor) == 0)
    assert told == ["held"]


def test_a_connection_that_meets_itself_is_told_apart() -> None:
    with socket.socket() as alone:
        alone.bind(("127.0.0.1", 0))
        alone.connect(alone.getsockname())
        assert meets_itself(alone)
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as client,
    ):
        assert not meets_itself(client)


def test_a_connection_that_was_reset_since_it_was_made_meets_nobody() -> None:
    """The peer was killed between the look at the connection's error and the look at its ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        accepted, _ = listener.accept()
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        accepted.close()
        with client:
            with pytest.raises(ConnectionResetError):
                client.recv(1)
            assert not meets_itself(client)
