from __future__ import annotations

import pytest

from logquake.wire.errors import ProtocolError
from logquake.wire.frame import frame_size, split_frames

LIMIT_BYTES = 1000


def frame(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


def test_whole_frames_are_split_off_and_the_rest_stays() -> None:
    stream = memoryview(frame(b"one") + frame(b"") + frame(b"three") + frame(b"four")[:-1])
    frames, position = split_frames(stream, LIMIT_BYTES)
    assert frames == [b"one", b"", b"three"]
    assert stream[position:] == frame(b"four")[:-1]


def test_frames_are_slices_of_the_buffer() -> None:
    buffer = bytearray(frame(b"abc"))
    (only,), _ = split_frames(memoryview(buffer), LIMIT_BYTES)
    buffer[4] = ord("x")
    assert only == b"xbc"


def test_splitting_goes_on_where_it_stopped() -> None:
    stream = memoryview(frame(b"one") + frame(b"two"))
    assert split_frames(stream, LIMIT_BYTES, start=7) == ([b"two"], len(stream))


@pytest.mark.parametrize("length", range(4))
def test_a_length_cut_short_is_no_frame_yet(length: int) -> None:
    stream = memoryview(frame(b"body")[:length])
    assert split_frames(stream, LIMIT_BYTES) == ([], 0)
    assert frame_size(stream, LIMIT_BYTES) is None


def test_the_size_is_known_before_the_body_has_come() -> None:
    assert frame_size(memoryview(frame(b"body")[:4]), LIMIT_BYTES) == 8
    assert frame_size(memoryview(b"??" + frame(b"body")), LIMIT_BYTES, position=2) == 8


@pytest.mark.parametrize("length", [-1, -(2**31), LIMIT_BYTES + 1, 2**31 - 1])
def test_a_length_out_of_bounds_is_refused_at_once(length: int) -> None:
    stream = memoryview(length.to_bytes(4, "big", signed=True))
    with pytest.raises(ProtocolError):
        split_frames(stream, LIMIT_BYTES)


def test_the_longest_frame_allowed_passes() -> None:
    assert split_frames(memoryview(frame(b"12345")), 5) == ([b"12345"], 9)
