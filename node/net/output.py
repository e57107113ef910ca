"""What a connection still has to send: bytes, and slices of log files that sendfile sends.

flush() makes as few system calls as it can: neighbouring bytes leave in one send, with MSG_MORE
when a file slice follows them. A short slice is read and leaves with its neighbours, because a
send of its own would cost more than the copy. Over TLS all slices are read, and encrypted.
"""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Iterable

from logquake.node.net.tls.tls_socket import TlsSocket, Transport
from logquake.storage.log.slice import LogSlice
from logquake.wire.schema import Part

Bytes = bytes | bytearray | memoryview

_COPY_BELOW = 32 * 1024  # slices shorter than this are read instead of sent from the file
_MAX_SENDFILE = 4 * 1024 * 1024  # per call
_MAX_PER_FLUSH = 8 * 1024 * 1024  # then the other connections get their turn
_MAX_VECTOR = 512  # parts a call; Linux takes 1024 at most


class TruncatedSliceError(Exception):
    """The file ended inside a slice whose length the peer was already told."""


class Output:
    """A queue of parts in front of one non-blocking socket."""

    __slots__ = ("_offset", "_parts", "pending_bytes")

    def __init__(self) -> None:
        self._parts: deque[Bytes | LogSlice] = deque()
        self._offset = 0  # bytes of the first part that were sent
        self.pending_bytes = 0

    def add(self, parts: Iterable[Part]) -> None:
        """Queue the parts of one frame, in order. They must not change until they are sent.

        Raises TruncatedSliceError, or what reading a slice raises; the frame is then broken.
        """
        for part in parts:
            size = len(part)
            if size == 0:
                continue
            self._parts.append(_sendable(part))
            self.pending_bytes += size

    def discard(self) -> None:
        """Forget what is queued, and the files it is in."""
        self._parts.clear()
        self._offset = self.pending_bytes = 0

    def flush(self, sock: Transport) -> int:
        """Send until all is sent, the socket takes no more, or the turn is over.

        The number of bytes sent.
        Raises OSError when the connection is lost, TruncatedSliceError when it must be closed.
        """
        total = 0
        try:
            while self._parts and total < _MAX_PER_FLUSH:
                sent = self._send_first(sock)
                self._drop(sent)
                total += sent
        except BlockingIOError:
            pass
        return total

    def _send_first(self, sock: Transport) -> int:
        first = self._parts[0]
        if isinstance(first, LogSlice):
            return self._send_file(sock, first)
        if len(self._parts) == 1:
            return sock.send(first[self._offset :] if self._offset else first)
        return self._send_vector(sock)

    def _send_vector(self, sock: Transport) -> int:
        vector: list[Bytes] = []
        more = 0
        for part in self._parts:
            if isinstance(part, LogSlice):
                more = socket.MSG_MORE
                break
            if len(vector) == _MAX_VECTOR:
                break
            vector.append(part)
        if self._offset:
            vector[0] = memoryview(vector[0])[self._offset :]
        return sock.sendmsg(vector, (), more)

    def _send_file(self, sock: Transport, part: LogSlice) -> int:
        count = min(len(part) - self._offset, _MAX_SENDFILE)
        if isinstance(sock, TlsSocket):
            sent = sock.send_slice(part, self._offset, count)
        else:
            position = part.position + self._offset
            sent = os.sendfile(sock.fileno(), part.file.fileno(), position, count)
        if sent == 0:
            raise TruncatedSliceError(f"file ended {count} bytes early")
        return sent

    def _drop(self, sent: int) -> None:
        """Forget that many bytes from the front of the queue."""
        self.pending_bytes -= sent
        if not self.pending_bytes:
            self.discard()
            return
        sent += self._offset
        parts = self._parts
        while parts and sent >= len(parts[0]):
            sent -= len(parts.popleft())
        self._offset = sent


def _sendable(part: Part) -> Bytes | LogSlice:
    if isinstance(part, (bytes, bytearray, memoryview)):
        return part
    if not isinstance(part, LogSlice):
        raise TypeError(f"{type(part).__name__} cannot be sent")
    if len(part) >= _COPY_BELOW:
        return part
    content = part.read()
    if len(content) != len(part):
        raise TruncatedSliceError(f"file gave {len(content)} of {len(part)} bytes")
    return content
