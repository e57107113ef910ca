"""The answering side of the control connections, on the supervisor's loop."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from logquake.cluster.control.client import MAX_LINE_BYTES, encode_line, short_address
from logquake.node.net.loop import EPOLLIN, EventLoop

Request = dict[str, Any]
Reply = Callable[[Any], None]
Handle = Callable[[Request, "ControlConnection"], None]


class ControlConnection:
    """One client. What is sent after it is gone is dropped."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._connection = connection
        self._received = bytearray()

    def serve(self, loop: EventLoop, handle: Handle, on_closed: Callable[[], None]) -> None:
        """Hand every request to ``handle``; call ``on_closed`` when the client went away."""
        fd = self._connection.fileno()

        def on_readable(_events: int) -> None:
            if self._receive():
                self._hand_on(handle)
            else:
                loop.unwatch(fd)
                self._connection.close()
                on_closed()

        loop.watch(fd, EPOLLIN, on_readable)

    def answer(self, value: Any) -> None:
        self.send({"ok": value})

    def refuse(self, line: str) -> None:
        self.send({"error": line})

    def close(self) -> None:
        """Let go of one that is not served."""
        self._connection.close()

    def progress(self, line: str) -> None:
        self.send({"progress": line})

    def send(self, message: dict[str, Any]) -> None:
        """Any message, by who is the asking side."""
        # Messages are small and the client reads: a full socket means that it never will.
        with contextlib.suppress(OSError):
            self._connection.sendall(encode_line(message))

    def _receive(self) -> bool:
        try:
            piece = self._connection.recv(65536)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._received += piece
        return bool(piece) and len(self._received) <= MAX_LINE_BYTES

    def _hand_on(self, handle: Handle) -> None:
        *lines, rest = bytes(self._received).split(b"\n")
        self._received = bytearray(rest)
        for line in lines:
            try:
                request = json.loads(line)
            except ValueError:
                self.refuse("a request is a line of JSON")
            else:
                handle(request, self)


class ControlServer:
    """Listens on a unix socket that only the owner of the state directory can write to.

    ``on_gone`` is told of each client that went away.
    """

    def __init__(
        self,
        path: Path,
        loop: EventLoop,
        handle: Handle,
        on_gone: Callable[[ControlConnection], None] = lambda _client: None,
    ) -> None:
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.setblocking(False)
        self._loop = loop
        self._handle = handle
        self._on_gone = on_gone
        path.unlink(missing_ok=True)  # of a supervisor that was killed; the lock says it is gone
        with short_address(path) as address:
            self._listener.bind(address)
        os.chmod(path, 0o600)
        self._listener.listen()
        loop.watch(self._listener.fileno(), EPOLLIN, self._accept)

    def _accept(self, _events: int) -> None:
        with contextlib.suppress(OSError):  # a client that went away again
            connection, _ = self._listener.accept()
            client = ControlConnection(connection)
            client.serve(self._loop, self._handle, lambda: self._on_gone(client))
