"""A secured socket with the calls that a connection makes of a plain one.

OpenSSL works in memory, and the socket is read and written here: one call takes in many records,
where OpenSSL by itself makes two for each. Clients' records may be as short as their messages.

It is non-blocking: whatever has to wait, for either direction, is a BlockingIOError. A piece of
what it sends is encrypted at once, and counts as sent when all of it has left; until then whoever
sends calls again, as a queue of bytes does by itself.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Sequence

from logquake.storage.log.slice import LogSlice

Bytes = bytes | bytearray | memoryview

_TAKEN_IN = 128 * 1024  # at most by one call; memory that OpenSSL keeps for what is not decrypted
_PIECE = 128 * 1024  # of eight TLS records: enough to make Python's share of the cost small
_JOIN_BELOW = 8 * 1024  # parts shorter than this leave in a record with their neighbours


class TlsSocket:
    """Owns the connected, non-blocking socket."""

    def __init__(
        self, sock: socket.socket, context: ssl.SSLContext, server_name: str | None = None
    ) -> None:
        """``server_name`` is whom a client expects; without it this is the server's side.

        Raises ValueError for what is no name.
        """
        self._socket = sock
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(
            self._incoming,
            self._outgoing,
            server_side=server_name is None,
            server_hostname=server_name,
        )
        self._unsent = memoryview(b"")  # is encrypted
        self._piece = 0  # bytes that count as sent once that has left
        self._has_ended = False

    @property
    def has_more(self) -> bool:
        """Something can be received that the system, which is asked for readiness, has not."""
        return self._has_ended or self._incoming.pending > 0 or self._tls.pending() > 0

    @property
    def has_unsent(self) -> bool:
        """Of the handshake something is still to leave."""
        return len(self._unsent) > 0

    @property
    def peer_certificate(self) -> bytes | None:
        """In DER; None of a peer that showed none."""
        return self._tls.getpeercert(binary_form=True)

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        """Say so first, where the socket takes it: else the end looks like an attack."""
        with contextlib.suppress(OSError, ValueError):
            self._tls.unwrap()
        with contextlib.suppress(OSError):
            self._push()
        self._socket.close()

    def shake_hands(self) -> bool:
        """Go on with the handshake; whether it is done. Raises OSError, ssl.SSLError among them."""
        with contextlib.suppress(BlockingIOError):
            if not self._take_in():
                self._incoming.write_eof()
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        finally:  # what is wrong is told too
            with contextlib.suppress(BlockingIOError):
                self._push()
        return not self.has_unsent

    def recv_into(self, view: memoryview) -> int:
        """As much as there is, 0 at the end of the stream."""
        received = self._decrypt(view)
        if not received and not self._has_ended:
            self._has_ended = not self._take_in()
            received = self._decrypt(view)
        if not received and not self._has_ended:
            raise BlockingIOError
        return received

    def send(self, content: Bytes) -> int:
        if not self._piece:
            piece = memoryview(content)[:_PIECE]
            self._tls.write(piece)
            self._piece = len(piece)
        self._push()
        sent, self._piece = self._piece, 0
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
        if self._piece:
            return self.send(b"")
        content = part.file.pread(min(count, _PIECE), part.position + offset)
        return self.send(content) if content else 0

    def _take_in(self) -> int:
        """How many bytes came, 0 at their end."""
        return self._incoming.write(self._socket.recv(_TAKEN_IN))

    def _decrypt(self, view: memoryview) -> int:
        """What has been taken in, of which a record may be there in part."""
        received, room = 0, len(view)
        incoming, tls = self._incoming, self._tls
        try:
            while received < room and (incoming.pending or tls.pending()):
                # With a buffer it answers with a number, which its annotations do not know.
                count: int = tls.read(room, view[received:])  # type: ignore[assignment]
                if not count:
                    self._has_ended = True
                    break
                received += count
        except ssl.SSLWantReadError:
            pass
        if self._outgoing.pending:  # TLS itself has something to say, new keys say
            with contextlib.suppress(BlockingIOError):
                self._push()
        return received

    def _push(self) -> None:
        """Send what is encrypted. Raises BlockingIOError while some of it is left."""
        if self._outgoing.pending:
            self._unsent = memoryview(bytes(self._unsent) + self._outgoing.read())
        while self._unsent:
            self._unsent = self._unsent[self._socket.send(self._unsent) :]


Transport = socket.socket | TlsSocket
"""What a connection runs over."""
