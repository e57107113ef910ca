"""Whose port it is."""

from __future__ import annotations

import socket

import pytest

from logquake.node.net.listener import ListenError, bind_listener, start_listening


def test_a_port_that_somebody_listens_on_is_refused() -> None:
    with bind_listener("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        start_listening(first, 5)
        with pytest.raises(ListenError, match=rf"cannot listen on 127\.0\.0\.1:{port}: the port"):
            bind_listener("127.0.0.1", port)


def test_of_two_that_bound_a_port_one_may_listen() -> None:
    with bind_listener("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with bind_listener("127.0.0.1", port) as second:
            start_listening(first, 5)
            with pytest.raises(ListenError, match=f"127.0.0.1:{port}"):
                start_listening(second, 5)


@pytest.fixture
def held() -> socket.socket:
    """A port that a launcher holds: bound with SO_REUSEPORT alone, never listening."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.bind(("127.0.0.1", 0))
    return sock


def test_a_held_port_can_be_listened_on_again_and_again(held: socket.socket) -> None:
    with held:
        address = held.getsockname()
        for _ in range(2):
            with bind_listener(*address) as listener:
                start_listening(listener, 5)
                listener.setblocking(True)
                with socket.create_connection(address):
                    listener.accept()[0].close()
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(address)


def test_a_held_port_has_one_listener(held: socket.socket) -> None:
    with held, bind_listener(*held.getsockname()) as first:
        start_listening(first, 5)
        with pytest.raises(ListenError, match="taken by another process"):
            bind_listener(*held.getsockname())


def test_connections_have_their_options_from_the_start() -> None:
    with bind_listener("127.0.0.1", 0) as listener:
        start_listening(listener, 5, send_buffer_bytes=50_000)
        listener.setblocking(True)
        with socket.create_connection(listener.getsockname()), listener.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) == 2 * 50_000  # Linux


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(ListenError, match=r"192\.0\.2\.1:9092: Cannot assign"):
        bind_listener("192.0.2.1", 9092)


def test_a_name_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ListenError, match=r"cannot listen on nowhere\.invalid:9092"):
        bind_listener("nowhere.invalid", 9092)
