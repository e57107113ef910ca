"""The TLS handshake on a connected socket, without blocking the loop.

Caveat: its arithmetic is done on the loop, about a millisecond with an RSA key of 2048 bits and a
tenth of that with an elliptic curve.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable

from logquake.node.net.loop import EPOLLGONE, EPOLLIN, EPOLLOUT, EventLoop
from logquake.node.net.tls.tls_socket import TlsSocket


class TlsHandshake:
    """Ends with done(socket), which then owns the descriptor, with failed(why), or with close().

    ``why`` is None of a client that left before it had said anything: there is nothing to tell.
    Neither is called before the constructor returned. A server waits for the client's first byte
    before it gives the connection any memory.
    """

    def __init__(
        self,
        loop: EventLoop,
        sock: socket.socket,
        context: ssl.SSLContext,
        *,
        server_name: str | None = None,
        done: Callable[[TlsSocket], None],
        failed: Callable[[str | None], None],
    ) -> None:
        """``server_name`` is whom a client expects; without it this is the server's side."""
        self._loop = loop
        self._socket = sock
        self._context = context
        self._server_name = server_name
        self._done = done
        self._failed = failed
        self._tls: TlsSocket | None = None
        self.begun_ms: int | None = None
        self._is_over = False
        self._interest = EPOLLIN if server_name is None else EPOLLOUT
        loop.watch(sock.fileno(), self._interest, self._on_event)

    def close(self) -> None:
        """Give up, unless it is over."""
        if not self._is_over:
            self._end()
            self._socket.close()

    def _on_event(self, events: int) -> None:
        if events & EPOLLGONE and not events & EPOLLIN:
            self._fail("reset amid the TLS handshake")
            return
        try:
            if self._has_left():
                self._fail(None)
                return
            tls = self._tls or self._begin()
            is_done = tls.shake_hands()
        except ssl.SSLError as error:
            self._fail(f"TLS handshake: {_reason(error)}")
        except (OSError, ValueError) as error:
            self._fail(f"TLS handshake: {error}")
        else:
            if is_done:
                self._succeed(tls)
            else:
                self._wait_for(EPOLLIN | EPOLLOUT if tls.has_unsent else EPOLLIN)

    def _has_left(self) -> bool:
        """Before it said anything; a server waits for that."""
        if self._tls is not None or self._server_name is not None:
            return False
        return not self._socket.recv(1, socket.MSG_PEEK)

    def _begin(self) -> TlsSocket:
        self.begun_ms = self._loop.now_ms()
        self._tls = TlsSocket(self._socket, self._context, self._server_name)
        return self._tls

    def _wait_for(self, interest: int) -> None:
        if interest != self._interest:
            self._interest = interest
            self._loop.rewatch(self._socket.fileno(), interest)

    def _succeed(self, secured: TlsSocket) -> None:
        done = self._done
        self._end()
        done(secured)

    def _fail(self, why: str | None) -> None:
        failed = self._failed
        self.close()
        failed(why)

    def _end(self) -> None:
        self._is_over = True
        self._loop.unwatch(self._socket.fileno())
        # They know this handshake, and a cycle would not go by reference count.
        self._done = self._failed = _nobody


def _reason(error: ssl.SSLError) -> str:
    """In OpenSSL's words, which hold nothing that the peer sent."""
    verified = getattr(error, "verify_message", None)
    return verified or error.reason or type(error).__name__


def _nobody(_: TlsSocket | str | None) -> None:
    """The handshake has ended."""
