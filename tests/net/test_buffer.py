"""Frames out of received bytes: in place, in memory that follows what came."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from random import Random

import pytest

from logquake.node.net.buffer import BASE_CAPACITY, FIRST_CAPACITY, ReceiveBuffer
from logquake.wire.errors import ProtocolError

MAX_FRAME = 100_000_000


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    left, right = socket.socketpair()
    for sock in (left, right):
        sock.setblocking(False)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_000_000)
    yield left, right
    left.close()
    right.close()


def transfer(
    sizes: list[int], random: Random, pair: tuple[socket.socket, socket.socket]
) -> tuple[ReceiveBuffer, int]:
    """Send frames of these sizes in random pieces; check each that comes out."""
    frames = [random.randbytes(size) for size in sizes]
    stream = memoryview(b"".join(len(frame).to_bytes(4) + frame for frame in frames))
    buffer, capacity = ReceiveBuffer(MAX_FRAME), 0
    for expected in frames:
        while (frame := buffer.frame()) is None:
            piece = stream[: random.choice((1, 100, 5_000, 300_000))]
            if piece:
                stream = stream[pair[0].send(piece) :]
            buffer.fill(pair[1])
        assert frame == expected
        capacity = max(capacity, buffer.capacity)
        buffer.consume()
    assert buffer.is_empty
    return buffer, capacity


@pytest.mark.parametrize("seed", range(10))
def test_frames_come_out_as_they_were_sent(
    seed: int, pair: tuple[socket.socket, socket.socket]
) -> None:
    random = Random(seed)
    sizes = [0, 50, 5_000][: seed % 4]
    sizes += [random.choice((0, 1, 50, 16_384, 200_000, 262_140, 700_000)) for _ in range(30)]
    transfer(sizes, random, pair)


def test_memory_grows_with_the_bytes_and_no_further_than_the_frame(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    pair[0].send((90_000_000).to_bytes(4) + b"x")
    buffer = ReceiveBuffer(MAX_FRAME)
    buffer.fill(pair[1])
    assert buffer.frame() is None
    assert buffer.capacity == FIRST_CAPACITY
    _, capacity = transfer([3 * FIRST_CAPACITY], Random(1), pair[::-1])
    assert capacity == BASE_CAPACITY
    _, capacity = transfer([3_000_000], Random(1), pair[::-1])
    assert capacity == 3_000_004


def test_grown_memory_is_given_back_once_it_was_not_needed(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    buffer, _ = transfer([1_000_000], Random(1), pair)
    buffer.relax()
    assert buffer.capacity > BASE_CAPACITY  # it was needed since the last time
    buffer.relax()
    assert buffer.capacity == BASE_CAPACITY


def test_a_partial_frame_keeps_its_memory(pair: tuple[socket.socket, socket.socket]) -> None:
    buffer, _ = transfer([1_000_000], Random(1), pair)
    pair[0].send((10).to_bytes(4) + b"half")
    buffer.fill(pair[1])
    buffer.relax()
    buffer.relax()
    pair[0].send(b"-whole")
    buffer.fill(pair[1])
    assert bytes(buffer.frame() or b"") == b"half-whole"


@pytest.mark.parametrize("length", [-1, -(2**31), MAX_FRAME + 1, 2**31 - 1])
def test_a_length_that_is_not_allowed_is_refused_before_its_bytes(
    length: int, pair: tuple[socket.socket, socket.socket]
) -> None:
    pair[0].send(length.to_bytes(4, signed=True))
    buffer = ReceiveBuffer(MAX_FRAME)
    buffer.fill(pair[1])
    with pytest.raises(ProtocolError, match=str(length)):
        buffer.frame()


def test_a_view_outlives_the_memory_being_given_back(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    buffer, _ = transfer([1_000_000], Random(1), pair)
    pair[0].send((5).to_bytes(4) + b"first")
    buffer.fill(pair[1])
    first = buffer.frame()
    assert first is not None
    buffer.consume()
    buffer.relax()
    buffer.relax()
    assert buffer.capacity == BASE_CAPACITY
    assert bytes(first) == b"first"
