"""A connection by TLS: a whole handshake each time, no session is resumed."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

from benchmarks.clients.driver import Readable, until
from benchmarks.clients.line import Line


def client_context(authority: Path) -> ssl.SSLContext:
    """Of who trusts that authority alone."""
    return ssl.create_default_context(cafile=str(authority))


class TlsLine(Line):
    def __init__(self, connected: socket.socket, context: ssl.SSLContext, host: str) -> None:
        self._tls = context.wrap_socket(
            connected, server_hostname=host, do_handshake_on_connect=False
        )
        super().__init__(self._tls)

    async def shake_hands(self) -> None:
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                await until(Readable(self._tls.fileno()))
            else:
                return

    async def _receive(self) -> bytes:
        """What has been read from the socket may wait within, and what came may be no answer."""
        while True:
            try:
                return self._read()
            except ssl.SSLWantReadError:
                await until(Readable(self._tls.fileno()))
