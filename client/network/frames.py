"""Cuts what a connection receives into frames.

Each frame has its own memory, since a response's records are views of it and may be kept for long.
A short frame is copied out of the common buffer; a long one is received into its own memory, which
grows with the bytes received: announcing a length without sending that much costs little.
"""

from __future__ import annotations

from logquake.wire.header import LENGTH_BYTES, frame_size

_BASE_BYTES = 32 * 1024
_FIRST_BYTES = 1024 * 1024  # of a long frame's own memory
_GROWTH = 4


class Frames:
    """Call room(), received(), then next() until it returns None."""

    __slots__ = ("_base", "_end", "_filled", "_long", "_long_bytes", "_start")

    def __init__(self) -> None:
        self._base = memoryview(bytearray(_BASE_BYTES))
        self._start = 0  # of the first byte that is not handed out
        self._end = 0  # of the bytes received
        self._long: bytearray | None = None  # the frame that the base cannot hold
        self._long_bytes = 0
        self._filled = 0

    def room(self) -> memoryview:
        """Where to put the next bytes; never empty."""
        if self._long is None:
            return self._base[self._end :]
        if self._filled == len(self._long):
            grown = bytearray(min(self._long_bytes, len(self._long) * _GROWTH))
            grown[: self._filled] = self._long
            self._long = grown
        return memoryview(self._long)[self._filled :]

    def received(self, count: int) -> None:
        """``count`` bytes were put into room()."""
        if self._long is None:
            self._end += count
        else:
            self._filled += count

    def next(self, max_frame_bytes: int) -> memoryview | None:
        """The first frame, without its length; None until all of it was received.

        Raises ProtocolError for a length below zero or above the limit.
        """
        if self._long is not None:
            return self._finish_long()
        pending = self._base[self._start : self._end]
        size = frame_size(pending, max_frame_bytes)
        if size is not None and size <= len(pending):
            self._start += size
            return memoryview(bytearray(pending[LENGTH_BYTES:size]))
        if size is not None and size > _BASE_BYTES:
            self._begin_long(size - LENGTH_BYTES, pending[LENGTH_BYTES:])
        else:
            self._to_the_front(pending)
        return None

    def _finish_long(self) -> memoryview | None:
        if self._long is None or self._filled < self._long_bytes:
            return None
        frame, self._long = self._long, None
        return memoryview(frame)

    def _begin_long(self, size: int, begun: memoryview) -> None:
        self._long = bytearray(min(size, _FIRST_BYTES))
        self._long[: len(begun)] = begun
        self._long_bytes, self._filled = size, len(begun)
        self._start = self._end = 0

    def _to_the_front(self, pending: memoryview) -> None:
        if self._start:
            self._base[: len(pending)] = bytes(pending)
            self._start, self._end = 0, len(pending)
