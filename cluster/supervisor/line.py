"""What a supervisor tells a process of its own while that runs."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable
from typing import Any

from logquake.cluster.control.server import ControlConnection, Request
from logquake.node.net.loop import EventLoop

Done = Callable[[], None]


class Line:
    """A connection to one process, from its fork to its end; answers come in order."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = ControlConnection(connection)
        self._is_served = False  # nothing comes before something was said
        self._is_over = False
        self._waiting: deque[Done] = deque()

    def tell(self, message: dict[str, Any], loop: EventLoop, done: Done) -> None:
        """``done`` is called when it has been carried out, or the process has ended."""
        if self._is_over:
            done()
            return
        if not self._is_served:
            self._connection.serve(loop, self._on_answer, self._on_closed)
            self._is_served = True
        self._waiting.append(done)
        self._connection.send(message)

    def close(self) -> None:
        """Of a process that has ended, whose socket says so to whom it is served."""
        if not self._is_served:
            self._connection.close()

    def _on_answer(self, _answer: Request, _connection: ControlConnection) -> None:
        self._waiting.popleft()()

    def _on_closed(self) -> None:
        self._is_over = True
        while self._waiting:
            self._waiting.popleft()()
