"""How kazoo runs callbacks and connects: at once on its one thread, to servers that serve."""

from __future__ import annotations

import math
import select
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.states import Callback

Poll = Callable[[float | None], set[int]]
Wait = Callable[[Sequence[socket.socket], float | None, Poll], set[int]]

_NOT_SERVING = b"not currently serving"
_SHORTEST_WAIT_S = 0.001  # 0 would mean not to wait at all, which is another error
_ANSWER_BYTES = 256  # enough for the refusal; the rest of the statistics is not wanted


class DirectHandler(SequentialThreadingHandler):  # type: ignore[misc]  # kazoo is untyped
    """Calls back on the thread that reads the connection, so callbacks must only pass on.

    kazoo's own handler queues answers to one thread and watch events to another, and so loses the
    order between them.
    """

    def __init__(self, connect_timeout_ms: float) -> None:
        super().__init__()
        self._connect_timeout_s = connect_timeout_ms / 1000
        self.wait: Wait = lambda _readers, timeout_s, poll: poll(timeout_s)
        """How is waited; whoever waits may want to know for how long, and for what."""

    def start(self) -> None:
        """No worker threads. kazoo calls back directly while ``running`` is false."""

    def stop(self) -> None:
        """Nothing was started."""

    def dispatch_callback(self, callback: Callback) -> None:
        callback.func(*callback.args)

    def select(
        self,
        readers: Sequence[socket.socket],
        writers: Sequence[socket.socket],
        _exceptional: Sequence[socket.socket],
        timeout: float | None = None,
    ) -> tuple[list[socket.socket], list[socket.socket], list[socket.socket]]:
        """Those that are ready or broken, within ``timeout`` seconds; none is in both.

        kazoo's own opens an epoll descriptor for each call, and an answer takes it three calls:
        most of what it costs to read the states of thousands of partitions.
        """
        waiting = select.poll()
        for events, sockets in ((select.POLLIN, readers), (select.POLLOUT, writers)):
            for each in sockets:
                waiting.register(each, events)

        def poll(timeout_s: float | None) -> set[int]:
            timeout_ms = None if timeout_s is None else math.ceil(timeout_s * 1000)
            return {descriptor for descriptor, _ in waiting.poll(timeout_ms)}

        ready = self.wait(readers, timeout, poll)
        return _among(readers, ready), _among(writers, ready), []

    def create_connection(self, *args: Any, timeout: float, **kwargs: Any) -> socket.socket:
        """Connect to a server that serves. Raises OSError.

        A starting ZooKeeper accepts connections up to 180 ms before it serves, and a client that
        came in between waits for seconds; so it is asked first (``srvr``, allowed by default).
        """
        timeout = min(timeout, self._connect_timeout_s)
        if not kwargs.get("use_ssl"):
            _require_serving(kwargs["address"], timeout)
        connection: socket.socket = super().create_connection(*args, timeout=timeout, **kwargs)
        return connection


def _among(sockets: Sequence[socket.socket], ready: set[int]) -> list[socket.socket]:
    return [each for each in sockets if each.fileno() in ready]


def _require_serving(address: tuple[str, int], timeout: float) -> None:
    """All of it within ``timeout`` seconds: it is taken from what is left of a session."""
    deadline = time.monotonic() + timeout
    with socket.create_connection(address, timeout) as probe:
        probe.sendall(b"srvr")
        probe.settimeout(max(deadline - time.monotonic(), _SHORTEST_WAIT_S))
        answer = probe.recv(_ANSWER_BYTES)
    if not answer or _NOT_SERVING in answer:
        raise ConnectionRefusedError(f"ZooKeeper at {address} does not serve yet")
