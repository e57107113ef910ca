from __future__ import annotations

import pytest

from logquake.wire.errors import ProtocolError
from logquake.wire.header import frame_size

LIMIT_BYTES = 1000


def frame(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


@pytest.mark.parametrize("length", range(4))
def test_a_length_cut_short_is_no_frame_yet(length: int) -> None:
    stream = memoryview(frame(b"body")[:length])
    assert frame_size(stream, LIMIT_BYTES) is None


def test_the_size_is_known_before_the_body_has_come() -> None:
    assert frame_size(memoryview(frame(b"body")[:4]), LIMIT_BYTES) == 8
    assert frame_size(memoryview(b"??" + frame(b"body")), LIMIT_BYTES, position=2) == 8


@pytest.mark.parametrize("length", [-1, -(2**31), LIMIT_BYTES + 1, 2**31 - 1])
def test_a_length_out_of_bounds_is_refused_at_once(length: int) -> None:
    stream = memoryview(length.to_bytes(4, "big", signed=True))
    with pytest.raises(ProtocolError):
        frame_size(stream, LIMIT_BYTES)


def test_the_longest_frame_allowed_passes() -> None:
    assert frame_size(memoryview(frame(b"12345")), 5) == 9
