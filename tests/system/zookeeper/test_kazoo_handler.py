"""What kazoo waits for on its sockets, as our handler tells it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from logquake.zk.kazoo_handler import DirectHandler

SOON_S = 0.001
Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def handler() -> DirectHandler:
    return DirectHandler(connect_timeout_ms=1_000)


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_a_socket_is_told_when_there_is_something_to_read(
    handler: DirectHandler, pair: Pair
) -> None:
    ours, theirs = pair
    assert handler.select([ours, theirs], [], [], SOON_S) == ([], [], [])
    theirs.send(b"x")
    assert handler.select([ours, theirs], [], [], None) == ([ours], [], [])


def test_a_socket_is_told_when_there_is_room_to_write(handler: DirectHandler, pair: Pair) -> None:
    ours, _ = pair
    assert handler.select([], [ours], [], SOON_S) == ([], [ours], [])
    ours.setblocking(False)
    with suppress(BlockingIOError):
        while ours.send(bytes(1 << 16)):
            pass
    assert handler.select([], [ours], [], SOON_S) == ([], [], [])


def test_a_connection_that_ended_is_told_to_who_reads_and_who_writes(
    handler: DirectHandler, pair: Pair
) -> None:
    ours, theirs = pair
    theirs.close()
    assert handler.select([ours], [], [], SOON_S) == ([ours], [], [])
    assert handler.select([], [ours], [], SOON_S) == ([], [ours], [])
