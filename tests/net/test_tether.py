"""A held connection: what is told when a broker listens, ends, or never was there."""

from __future__ import annotations

import gc
import socket
import struct
from collections.abc import Callable, Iterator

import pytest

from logquake.node.net.links.channel import TcpNetwork
from logquake.node.net.links.connector import Connector, meets_itself
from logquake.node.net.links.link import LinkSettings
from logquake.node.net.links.tether import TcpTether
from logquake.node.net.listener import bind_listener
from logquake.seams.network import Disconnected, Endpoint
from tests.net.server import Server

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


@pytest.mark.parametrize("is_there", [True, False])
def test_a_tether_that_ended_leaves_no_cycle(server: Server, *, is_there: bool) -> None:
    """Once the heap is frozen nobody would look for it (node/process/heap.py)."""
    told: list[Disconnected] = []
    network = TcpNetwork(server.loop, LinkSettings())
    with bind_listener("127.0.0.1", 0) as silent:
        port = server.acceptor.port if is_there else silent.getsockname()[1]
        gc.collect()
        gc.disable()
        try:
            tether = network.tether(Endpoint(1, "127.0.0.1", port), lambda: None, told.append)
            if is_there:
                server.until(lambda: len(server.processor) == 1)
                server.settle()
                server.processor.close()
            server.until(lambda: len(told) == 1)
            server.settle()
            del tether
            assert not [
                each for each in gc.get_objects() if isinstance(each, TcpTether | Connector)
            ]
        finally:
            gc.enable()


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
