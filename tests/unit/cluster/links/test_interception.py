from __future__ import annotations

import struct

import pytest

from logquake.cluster.links.interception import FrameMeter, Handover


def frame(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content


STREAM = frame(b"first") + frame(b"") + frame(b"second") + frame(b"x" * 300)


class Ends:
    """What went straight through, and what was handed over."""

    def __init__(self) -> None:
        self.through = b""
        self.over = b""
        self.handover = Handover(self._forward)

    def _forward(self, data: memoryview) -> None:
        self.through += data

    def receive(self, data: memoryview) -> None:
        self.over += data

    def take(self, data: bytes, step: int) -> None:
        for at in range(0, len(data), step):
            self.handover.take(memoryview(data[at : at + step]))


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1000])
def test_without_a_receiver_all_goes_through(step: int) -> None:
    ends = Ends()
    ends.take(STREAM, step)
    assert (ends.through, ends.over) == (STREAM, b"")


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1000])
def test_from_the_first_byte_on(step: int) -> None:
    ends = Ends()
    ends.handover.to(ends.receive)
    ends.take(STREAM, step)
    assert (ends.through, ends.over) == (b"", STREAM)


@pytest.mark.parametrize("at", range(len(STREAM)))
def test_a_receiver_that_comes_later_gets_whole_frames(at: int) -> None:
    ends = Ends()
    ends.take(STREAM[:at], 5)
    ends.handover.to(ends.receive)
    ends.take(STREAM[at:], 3)
    assert ends.through + ends.over == STREAM
    assert len(ends.through) in (0, 9, 13, 23, len(STREAM))
    assert len(ends.through) >= at


def test_what_is_no_frame_is_never_handed_over() -> None:
    meter = FrameMeter()
    meter.advance(memoryview(b"\xff\xff\xff\xff and on"))
    assert meter.to_beginning(memoryview(b"more")) is None
