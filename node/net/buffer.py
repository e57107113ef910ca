"""The bytes received on one connection, cut into frames in place.

A frame is a 4-byte big-endian length and that many bytes. Frames are handed out as views of the
buffer, never copied; fill() alone moves or overwrites bytes, so views stay valid until the next
fill(); memory that is given back stays mapped for as long as a view of it is held.

The memory is small until more has come than it holds, and then an anonymous mapping: pages that no
byte reached cost nothing, so a length that is announced and never sent costs address space alone.
Mapping takes longer than all that many a connection asks before it closes.
"""

from __future__ import annotations

import mmap

from logquake.node.net.tls.tls_socket import Transport
from logquake.wire.header import LENGTH_BYTES, frame_size

FIRST_CAPACITY = 4 * 1024
BASE_CAPACITY = 256 * 1024
_GROWTH = 8  # capacity multiplies by this at most, each time the bytes that came have filled it

# From this size on, a frame is read exactly to its end: the next one then starts at the front
# of the buffer, and nothing is ever moved.
_EXACT_FROM = 128 * 1024


class ReceiveBuffer:
    """Bytes in, frames out. One frame at a time: frame(), then consume()."""

    __slots__ = ("_end", "_largest", "_max_frame_size", "_size", "_start", "_view")

    def __init__(self, max_frame_size: int) -> None:
        self._max_frame_size = max_frame_size
        self._view = memoryview(bytearray(FIRST_CAPACITY))
        self._start = 0  # of the first byte that is not consumed
        self._end = 0  # of the bytes received
        self._size: int | None = None  # of the frame at _start with its length, once that is known
        self._largest = 0  # bytes a frame needed since the last relax()

    @property
    def capacity(self) -> int:
        return len(self._view)

    @property
    def is_empty(self) -> bool:
        """No byte waits to be consumed."""
        return self._start == self._end

    @property
    def is_grown(self) -> bool:
        return self.capacity > BASE_CAPACITY

    @property
    def is_full(self) -> bool:
        """The next fill() must grow the memory beyond the base: the frame is larger."""
        return self._start == 0 and BASE_CAPACITY <= self._end == self.capacity

    @property
    def needed(self) -> int:
        """Bytes that the frame at hand takes with its length, 0 while that is not known."""
        return self._size or 0

    def fill(self, sock: Transport) -> int:
        """One recv; the number of bytes, 0 at the end of the stream.

        Call it only once frame() answered None. Raises BlockingIOError and the connection's
        own OSErrors.
        """
        self._make_room()
        received = sock.recv_into(self._view[self._end : self._read_up_to()])
        self._end += received
        return received

    def allow(self, max_frame_size: int) -> None:
        """From the next frame on."""
        self._max_frame_size = max_frame_size

    def frame(self) -> memoryview | None:
        """The first frame, without its length; None until all of it is here.

        Raises ProtocolError for a length below zero or above the bound.
        """
        start = self._start + LENGTH_BYTES
        size = self._size
        if size is None:
            if start > self._end:
                return None
            size = self._size = self._read_size()
            self._start_over()
            start = self._start + LENGTH_BYTES
        stop = self._start + size
        return self._view[start:stop] if stop <= self._end else None

    def consume(self) -> None:
        """Go past the frame that frame() answered."""
        self._start += self._size or 0
        self._size = None

    def relax(self) -> None:
        """Give grown memory back, unless a frame since the last call needed it."""
        if self._largest <= BASE_CAPACITY:
            self.shrink()
        self._largest = 0

    def shrink(self) -> None:
        """Give grown memory back if nothing is in it."""
        if self.is_empty and self.is_grown:
            self._view = _mapping(BASE_CAPACITY)
            self._start = self._end = 0

    def discard(self) -> None:
        """Let go of all memory, with whatever is in it. Nothing may be done here afterwards."""
        self._view = memoryview(b"")
        self._start = self._end = 0

    def _read_size(self) -> int:
        size = frame_size(self._view, self._max_frame_size, self._start) or 0
        self._largest = max(self._largest, size)
        return size

    def _start_over(self) -> None:
        """A frame that grown memory cannot hold begins in the base: it has to claim anew, and who
        claims holds nothing. _read_up_to() sees to it that what is here fits in.
        """
        if self.is_grown and self.needed > self.capacity:
            pending = self._view[self._start : self._end]
            self._view = _mapping(BASE_CAPACITY)
            self._view[: len(pending)] = pending
            self._start, self._end = 0, len(pending)

    def _make_room(self) -> None:
        """Leave at least one byte of room behind _end, and room for a length at least."""
        if self._start == self._end:
            self._start = self._end = 0
            return
        needed = self._size or LENGTH_BYTES
        if self._start + needed <= self.capacity:
            return
        pending = self._view[self._start : self._end]
        if self.capacity < BASE_CAPACITY:
            self._view = _mapping(BASE_CAPACITY)
        elif len(pending) == self.capacity:
            self._view = _mapping(min(needed, self.capacity * _GROWTH))
        elif self._start == 0:
            return
        self._view[: len(pending)] = pending
        self._start, self._end = 0, len(pending)

    def _read_up_to(self) -> int:
        if self._size is None or self._size < _EXACT_FROM:
            return min(self.capacity, self._start + BASE_CAPACITY)
        return min(self.capacity, self._start + self._size)


def _mapping(capacity: int) -> memoryview:
    return memoryview(mmap.mmap(-1, capacity))
