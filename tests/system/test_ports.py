"""A held port is nobody else's, refuses while its server is dead, and comes back to it."""

from __future__ import annotations

import socket

import pytest

from logquake.cluster.errors import ClusterError
from logquake.cluster.processes.ports import hold_port, hold_port_for_java, hold_ports, port_of
from logquake.node.net.listener import bind_listener
from tests.waiting import wait_for

HOST = "127.0.0.1"


def test_a_held_port_cannot_be_bound_or_held_by_others() -> None:
    with hold_port(None) as held, socket.socket() as stranger:
        with pytest.raises(OSError, match="in use"):
            stranger.bind((HOST, port_of(held)))
        with pytest.raises(ClusterError, match="is taken"):
            hold_port(port_of(held))


def test_a_broker_listens_on_a_held_port_again_and_again() -> None:
    with hold_port(None) as held:
        for _ in range(3):
            with bind_listener(HOST, port_of(held)) as listener:
                listener.listen()
                with socket.create_connection((HOST, port_of(held)), timeout=5):
                    listener.setblocking(True)
                    listener.accept()[0].close()
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection((HOST, port_of(held)), timeout=5)


def test_a_port_is_taken_while_the_broker_of_another_cluster_listens() -> None:
    with hold_port(None) as held, bind_listener(HOST, port_of(held)) as listener:
        listener.listen()
        with pytest.raises(ClusterError, match="is taken"):
            hold_port(port_of(held))


def test_java_binds_a_port_held_for_it() -> None:
    with hold_port_for_java() as held, socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((HOST, port_of(held)))
        server.listen()
        with socket.create_connection((HOST, port_of(held)), timeout=5) as client:
            accepted, address = server.accept()
            accepted.close()
            assert address == client.getsockname()


def held_neighbours() -> tuple[socket.socket, socket.socket]:
    """Raises ClusterError where the second one is another's."""
    first = hold_port(None)
    try:
        return first, hold_port(port_of(first) + 1)
    except ClusterError:
        first.close()
        raise


def test_holding_a_row_of_ports_is_all_or_nothing() -> None:
    first, held = wait_for("two ports in a row", held_neighbours, unready=(ClusterError,))
    with held:
        base = port_of(first)
        first.close()
        with pytest.raises(ClusterError, match=f"port {port_of(held)} is taken"):
            hold_ports([base, base + 1])
        with hold_port(base) as again:
            assert port_of(again) == base
