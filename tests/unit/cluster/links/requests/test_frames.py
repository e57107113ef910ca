"""Frames out of bytes, however they come."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logquake.cluster.links.requests.frames import FrameReader
from logquake.wire.errors import ProtocolError


def framed(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content


@given(contents=st.lists(st.binary(max_size=20), max_size=6), cuts=st.lists(st.integers(0, 150)))
def test_frames_do_not_depend_on_the_pieces(contents: list[bytes], cuts: list[int]) -> None:
    data, reader = b"".join(map(framed, contents)), FrameReader()
    found: list[bytes] = []
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for start, stop in pairwise(edges):
        found += reader.feed(memoryview(data)[start:stop])
    assert found == list(map(framed, contents))
    assert reader.rest() == b""


def test_a_frame_is_held_until_the_next_is_asked_for() -> None:
    reader = FrameReader()
    frames = reader.feed(framed(b"one") + framed(b"two") + b"\0\0")
    assert next(frames) == framed(b"one")
    assert next(frames) == framed(b"two")
    assert reader.rest() == framed(b"two") + b"\0\0"
    assert reader.rest() == b""


@pytest.mark.parametrize("length", [-1, 101, 2**31 - 1])
def test_an_absurd_length_is_no_frame(length: int) -> None:
    reader = FrameReader(max_frame_bytes=100)
    data = framed(b"sound") + length.to_bytes(4, "big", signed=True) + b"and more"
    frames = reader.feed(data)
    assert next(frames) == framed(b"sound")
    with pytest.raises(ProtocolError):
        next(frames)
    assert reader.rest() == data[9:]
