"""Which server kazoo turns to, and how long it waits for one that is slow.

As ZooKeeper's own client does (StaticHostProvider), it goes round the servers in one order, that
was drawn at the beginning: from one that is lost to the next, and to the same one last. kazoo alone
would shuffle each time, and may spend what is left of the session on the server that was silent.

How long it waits: as long as dropping a server gains nothing.

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
from collections.abc import Callable, Sequence

from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionLoss
from kazoo.handlers.utils import AsyncResult
from kazoo.protocol.connection import ConnectionHandler

Server = tuple[str, str, int]  # the name, its address, the port

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
    """kazoo's connection, but for where it turns to, and when it gives a silent server up."""

    def __init__(self, client: KazooClient) -> None:
        super().__init__(client, client._connection.retry_sleeper, logger=client.logger)
        self.ping_outstanding = OverduePing()
        self._served_by: Server | None = None
        self.number = 0
        """Counts the connections that were made."""

    def _expand_client_hosts(self) -> list[Server]:
        """What is tried one after the other, until one serves."""
        return from_the_next(super()._expand_client_hosts(), self._served_by)

    def _connect(self, host: str, address: str, port: int) -> tuple[float, float]:
        """kazoo's read and connect time-outs in ms; the first is two thirds of the session's."""
        self.number += 1
        read_timeout_ms, connect_timeout_ms = super()._connect(host, address, port)
        self._served_by = host, address, port
        session_timeout_s = read_timeout_ms / SILENCE_SHARE / 1000
        self.ping_outstanding.expect(session_timeout_s, len(self.client.hosts))
        return read_timeout_ms, connect_timeout_ms

    def _send_request(self, read_timeout_s: float, connect_timeout_s: float) -> None:
        """Send what waits longest; kazoo makes sure that something may wait.

        Not over another connection than its owner knew of: what was asked before it and got lost
        is to be asked again first.
        """
        waiting = self.client._queue
        if waiting and not _may_go_over(self.number, waiting[0][1]):
            _, result = waiting.popleft()
            self._read_sock.recv(1)
            result.set_exception(ConnectionLoss())
        else:
            super()._send_request(read_timeout_s, connect_timeout_s)


def for_connection(result: AsyncResult, number: int) -> AsyncResult:
    """Mark a request that is meant for one connection; ConnectionLoss where that is gone."""
    result.meant_for = number
    return result


def _may_go_over(number: int, result: AsyncResult) -> bool:
    return getattr(result, "meant_for", number) == number


def from_the_next(servers: Sequence[Server], served_by: Server | None) -> list[Server]:
    """All of them, the one that served last at the end."""
    begin = servers.index(served_by) + 1 if served_by in servers else 0
    return [*servers[begin:], *servers[:begin]]
