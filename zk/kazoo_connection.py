"""How long kazoo waits for a server that is slow: as long as dropping it gains nothing.

A ping leaves when a third of the session's time has passed without a request. kazoo gives the
connection up when the answer takes another third, less a jitter of up to 0.4 s: with a session of
2 s that is 0.27 to 0.66 s, and on a machine where ZooKeeper's process waits for a processor the
connection is lost every few seconds, for nothing: the session lives on, and the same server is
the only one to go to.

ZooKeeper's own client (ClientCnxn.SendThread) leaves a server from which it heard nothing for two
thirds of the session, so that the last third is left to find another one. Here this holds where
there is another one. A lone server is waited for until the session must be over.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from kazoo.client import KazooClient
from kazoo.protocol.connection import ConnectionHandler

PING_SHARE = 1 / 3  # of the session's time: a ping leaves after so long without a request
SILENCE_SHARE = 2 / 3  # a server that was silent for so long is left for another one


class OverduePing:
    """Takes the place of the event by which kazoo knows of an unanswered ping.

    Set when a ping leaves, cleared when its answer comes, asked after each wait in vain: it counts
    as set once the answer is overdue. A wait counts for no longer than it was meant to last:
    what passed while this very process was off the processor says nothing of the server.
    """

    def __init__(self, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._monotonic_s = monotonic_s
        self._patience_s = 0.0
        self._longest_wait_s = 0.0
        self._waited_s: float | None = None  # None: no ping is unanswered
        self._asked_at_s = 0.0

    def expect(self, session_timeout_s: float, servers: int) -> None:
        """On a new connection: the time-out that was agreed, and how many servers there are."""
        silence_s = session_timeout_s * (SILENCE_SHARE if servers > 1 else 1)
        self._longest_wait_s = session_timeout_s * PING_SHARE
        self._patience_s = silence_s - self._longest_wait_s
        self.clear()

    def set(self) -> None:
        if self._waited_s is None:
            self._waited_s = 0.0
            self._asked_at_s = self._monotonic_s()

    def clear(self) -> None:
        self._waited_s = None

    def is_set(self) -> bool:
        if self._waited_s is None:
            return False
        now_s = self._monotonic_s()
        self._waited_s += min(now_s - self._asked_at_s, self._longest_wait_s)
        self._asked_at_s = now_s
        return self._waited_s >= self._patience_s


class PatientConnection(ConnectionHandler):  # type: ignore[misc]  # kazoo is untyped
    """kazoo's connection, but for when it gives a silent server up."""

    def __init__(self, client: KazooClient) -> None:
        super().__init__(client, client._connection.retry_sleeper, logger=client.logger)
        self.ping_outstanding = OverduePing()

    def _connect(self, *args: Any) -> tuple[float, float]:
        """kazoo's read and connect time-outs in ms; the first is two thirds of the session's."""
        read_timeout_ms, connect_timeout_ms = super()._connect(*args)
        session_timeout_s = read_timeout_ms / SILENCE_SHARE / 1000
        self.ping_outstanding.expect(session_timeout_s, len(self.client.hosts))
        return read_timeout_ms, connect_timeout_ms
