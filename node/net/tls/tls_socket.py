"""A secured socket with the calls that a connection makes of a plain one.

It is non-blocking: whatever has to wait, for either direction, is a BlockingIOError. Of what it
sends nothing counts as sent until OpenSSL has taken a whole piece; what it could not take it must
be given again, the same bytes, which a queue of bytes does by itself.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Sequence

from logquake.storage.log.slice import LogSlice

Bytes = bytes | bytearray | memoryview

_PIECE = 64 * 1024  # of four TLS records: enough to make Python's share of the cost small
_JOIN_BELOW = 8 * 1024  # parts shorter than this leave in a record with their neighbours
_BUSY = (ssl.SSLWantReadError, ssl.SSLWantWriteError)


class TlsSocket:
    def __init__(self, sock: ssl.SSLSocket) -> None:
        self._socket = sock
        self._refused_piece: Bytes | None = None  # what OpenSSL must be given again
        self._has_ended = False

    @property
    def has_more(self) -> bool:
        """Something can be received that the system, which is asked for readiness, has not."""
        return self._has_ended or self._socket.pending() > 0

    @property
    def peer_certificate(self) -> bytes | None:
        """In DER; None of a peer that showed none."""
        return self._socket.getpeercert(binary_form=True)

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        """Say so first, where the socket takes it: else the end looks like an attack."""
        with contextlib.suppress(OSError, ValueError):
            self._socket.unwrap()
        self._socket.close()

    def recv_into(self, view: memoryview) -> int:
        """As much as there is, 0 at the end of the stream."""
        received = 0
        while received < len(view) and not self._has_ended:
            try:
                count = self._socket.recv_into(view[received:])
            except _BUSY:
                break
            received += count
            self._has_ended = count == 0
        if not received and not self._has_ended:
            raise BlockingIOError
        return received

    def send(self, content: Bytes) -> int:
        piece = self._refused_piece or memoryview(content)[:_PIECE]
        try:
            sent = self._socket.send(piece)
        except _BUSY:
            self._refused_piece = piece
            raise BlockingIOError from None
        self._refused_piece = None
        return sent

    def sendmsg(self, parts: Sequence[Bytes], _ancillary: Sequence[object], _flags: int) -> int:
        if len(parts[0]) >= _JOIN_BELOW:
            return self.send(parts[0])
        joined = bytearray()
        for part in parts:
            if joined and len(joined) + len(part) > _PIECE:
                break
            joined += part
        return self.send(joined)

    def send_slice(self, part: LogSlice, offset: int, count: int) -> int:
        """From a file, whose bytes have to be read, since they are to be encrypted."""
        if self._refused_piece is not None:
            return self.send(self._refused_piece)
        content = part.file.pread(min(count, _PIECE), part.position + offset)
        return self.send(content) if content else 0


Transport = socket.socket | TlsSocket
"""What a connection runs over."""
