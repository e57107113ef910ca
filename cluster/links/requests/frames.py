"""Cuts the bytes of one way of a connection into frames: bytes in, frames out."""

from __future__ import annotations

from collections.abc import Iterator

from logquake.wire.header import frame_size

#: Kafka's socket.request.max.bytes bounds requests; of answers, fetch.max.bytes is half of it.
MAX_FRAME_BYTES = 128 * 1024 * 1024


class FrameReader:
    """Holds what has come of a frame until it is whole."""

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self._max_frame_bytes = max_frame_bytes
        self._held = bytearray()

    def feed(self, data: bytes | memoryview) -> Iterator[bytes]:
        """The frames that are whole now, each with its length in front.

        To be walked to its end; a frame is held until the next is asked for, so what nobody could
        read is still in rest(). ProtocolError for a length that no frame has.
        """
        self._held += data
        while (frame := self._first()) is not None:
            yield frame
            del self._held[: len(frame)]

    def rest(self) -> bytes:
        """What is held; nothing afterwards."""
        held, self._held = self._held, bytearray()
        return bytes(held)

    def _first(self) -> bytes | None:
        with memoryview(self._held) as view:
            size = frame_size(view, self._max_frame_bytes)
            if size is None or size > len(view):
                return None
            return bytes(view[:size])
