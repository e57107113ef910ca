"""What transfers the bytes of a connection, without blocking: a socket, or TLS over one."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import ssl


class Shaken(Enum):
    """What a handshake needs before it can continue."""

    DONE = "nothing"
    READ = "to read"
    WRITE = "to write"


class HandshakeError(Exception):
    """The two ends do not trust, or understand, each other: retrying does not help."""


class Transport(Protocol):
    """recv_into and send raise BlockingIOError if they would have to wait, and OSError."""

    @property
    def has_more(self) -> bool:
        """Whether there may be more bytes than one call returns, or than the selector reports."""

    def fileno(self) -> int: ...

    def shake_hands(self) -> Shaken:
        """Raises HandshakeError, and OSError."""

    def recv_into(self, view: memoryview) -> int: ...

    def send(self, parts: Sequence[memoryview]) -> int:
        """Send as many bytes as there is room for, maybe only of the first part."""

    def close(self) -> None: ...


class Plain:
    has_more = False  # the selector reports what stays behind again

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self.fileno = connected.fileno
        self.recv_into = connected.recv_into
        self.send = connected.sendmsg  # one call for all parts of a request
        self.close = connected.close

    def shake_hands(self) -> Shaken:
        return Shaken.DONE


class Tls:
    """The certificate must be for ``host``. Raises ValueError for an invalid name."""

    has_more = True  # a call returns at most one record, and OpenSSL buffers others

    def __init__(self, connected: socket.socket, context: ssl.SSLContext, host: str) -> None:
        self._socket = context.wrap_socket(
            connected, server_hostname=host, do_handshake_on_connect=False
        )
        self._is_accepted = False  # in TLS 1.3 a server checks our certificate after the handshake
        self.fileno = self._socket.fileno
        self.close = self._socket.close

    def shake_hands(self) -> Shaken:
        import ssl

        try:
            self._socket.do_handshake()
        except ssl.SSLWantReadError:
            return Shaken.READ
        except ssl.SSLWantWriteError:
            return Shaken.WRITE
        except (ssl.SSLEOFError, ssl.SSLSyscallError):
            raise  # the connection was lost
        except ssl.SSLError as error:
            raise HandshakeError(str(error.strerror or error)) from error
        return Shaken.DONE

    def recv_into(self, view: memoryview) -> int:
        """Until the first bytes it may also raise HandshakeError."""
        import ssl

        try:
            count = self._socket.recv_into(view)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as error:
            raise BlockingIOError from error
        except (ssl.SSLEOFError, ssl.SSLSyscallError):
            raise  # the connection was lost
        except ssl.SSLError as error:
            if self._is_accepted:
                raise
            raise HandshakeError(str(error.strerror or error)) from error
        self._is_accepted = True
        return count

    def send(self, parts: Sequence[memoryview]) -> int:
        import ssl

        try:
            return self._socket.send(parts[0])
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as error:
            raise BlockingIOError from error
