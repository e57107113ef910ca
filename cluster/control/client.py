"""How a supervisor is spoken to: lines of JSON over a stream socket, answered in order.

A request is ``{"do": verb, ...}``; the answer ``{"ok": value}`` or ``{"error": line}``. Before an
answer may come any number of ``{"progress": line}``. The launcher's own connection, a socket pair
made before the supervisor starts, begins with one answer that nobody asked for: how the start went.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from logquake.cluster.errors import ClusterError

MAX_LINE_BYTES = 1024 * 1024


class SupervisorGoneError(ClusterError):
    """The connection ended before the answer came."""


def encode_line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


@contextlib.contextmanager
def short_address(path: Path) -> Iterator[str]:
    """The address of a unix socket, however long its path: the kernel's limit is 107 bytes.

    The folder is named by a descriptor, which is valid until the context ends.
    """
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def connect(control_socket: Path) -> ControlClient:
    """Raises SupervisorGoneError when nobody listens there."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short_address(control_socket) as address:
            connection.connect(address)
    except OSError as error:
        connection.close()
        raise SupervisorGoneError(f"no supervisor at {control_socket}") from error
    return ControlClient(connection)


class ControlClient:
    """The asking side of a connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("rb")

    def ask(self, verb: str, *, timeout_s: float, **arguments: Any) -> Any:
        """Send a request and wait for its answer. Raises ClusterError with the answer's error."""
        try:
            self._connection.sendall(encode_line({"do": verb, **arguments}))
        except OSError as error:
            raise SupervisorGoneError("the supervisor is gone") from error
        return self.answer(timeout_s=timeout_s)

    def answer(
        self, *, timeout_s: float, on_progress: Callable[[str], None] = lambda _: None
    ) -> Any:
        """Wait for one answer. Raises ClusterError; TimeoutError leaves the connection useless."""
        self._connection.settimeout(timeout_s)
        while True:
            message = self._read()
            if "progress" in message:
                on_progress(message["progress"])
            elif "error" in message:
                raise ClusterError(message["error"])
            else:
                return message["ok"]

    def wait_until_closed(self, *, timeout_s: float) -> None:
        """Wait until the supervisor's process is gone. Raises TimeoutError."""
        self._connection.settimeout(timeout_s)
        with contextlib.suppress(ConnectionError):
            while self._lines.readline():
                pass

    def close(self) -> None:
        self._lines.close()
        self._connection.close()

    def _read(self) -> dict[str, Any]:
        try:
            line = self._lines.readline(MAX_LINE_BYTES)
        except ConnectionError:
            line = b""
        if not line:
            raise SupervisorGoneError("the supervisor is gone")
        message: dict[str, Any] = json.loads(line)
        return message
