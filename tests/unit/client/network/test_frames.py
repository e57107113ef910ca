"""Frames out of pieces, each in memory of its own."""

from __future__ import annotations

import struct
from random import Random

import pytest

from logquake.client.network.frames import Frames
from logquake.wire.errors import ProtocolError

BOUND = 64 * 1024 * 1024


def put(frames: Frames, content: bytes, bound: int = BOUND) -> list[bytes]:
    """As much at a time as there is room for."""
    found = []
    while content:
        room = frames.room()
        piece = content[: len(room)]
        room[: len(piece)] = piece
        frames.received(len(piece))
        content = content[len(piece) :]
        while (frame := frames.next(bound)) is not None:
            found.append(bytes(frame))
    return found


def framed(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content


@pytest.mark.parametrize("seed", range(20))
def test_what_was_sent_comes_out_however_it_was_cut(seed: int) -> None:
    random = Random(seed)
    sizes = [random.choice([0, 1, 100, 32 * 1024 - 4, 32 * 1024, 70_000]) for _ in range(20)]
    sent = [random.randbytes(size) for size in sizes]
    stream = b"".join(map(framed, sent))
    frames, found = Frames(), []
    while stream:
        size = random.choice([1, 3, 5, 1000, 50_000])
        found += put(frames, stream[:size])
        stream = stream[size:]
    assert found == sent


def test_a_frame_stays_as_it_is_when_more_comes() -> None:
    frames = Frames()
    frames.room()[:7] = framed(b"one")
    frames.received(7)
    first = frames.next(BOUND)
    assert first is not None
    put(frames, framed(b"two"))
    assert bytes(first) == b"one"


@pytest.mark.parametrize("length", [-1, 1001, 0x7FFFFFFF])
def test_lengths_beyond_the_bound_are_refused(length: int) -> None:
    with pytest.raises(ProtocolError, match=str(length)):
        put(Frames(), struct.pack(">i", length), 1000)


def test_memory_follows_what_came_and_not_what_was_announced() -> None:
    frames = Frames()
    put(frames, struct.pack(">i", BOUND) + bytes(100))
    assert len(frames.room()) < 2 * 1024 * 1024
    put(frames, bytes(10 * 1024 * 1024))
    assert len(frames.room()) < 32 * 1024 * 1024
