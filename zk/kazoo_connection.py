"""Which server kazoo turns to, and how long it waits for one that is slow.

As ZooKeeper's own client does (StaticHostProvider), it goes round the servers in one order, that
was drawn at the beginning: from one that is lost to the next, and to the same one last. kazoo alone
would shuffle each time, and may spend what is left of the session on the server that was silent.

How long it waits: as long as dropping a server gains nothing. A ping leaves when a third of the
session's time has passed without a request. kazoo gives the connection up when the answer takes
another third, less a jitter of up to 0.4 s: with a session of 2 s that is 0.27 to 0.66 s, and on a
machine where ZooKeeper's process waits for a processor the connection is lost every few seconds,
for nothing: the session lives on, and the same server is the only one to go to. And it counts from
a ping, which does not leave as long as requests do: a server that answers none of them is kept.

ZooKeeper's own client (ClientCnxn.SendThread) leaves a server from which it heard nothing for two
thirds of the session, so that the last third is left to find another one. Here this holds where
there is another one. A lone server is waited for until the session must be over.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from socket import socket

from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionLoss
from kazoo.handlers.utils import AsyncResult
from kazoo.protocol.connection import ConnectionHandler

from logquake.zk.kazoo_handler import Poll

Server = tuple[str, str, int]  # the name, its address, the port

SILENCE_SHARE = 2 / 3  # a server that was silent for so much of the session's time is left


class Silence:
    """For how long nothing was heard of a server, as far as this process listened.

    Takes the place of the event by which kazoo knows of an unanswered ping; it is asked after each
    wait in vain. A wait counts for no longer than it was meant to last, and what is between two
    waits does not count: what passed while this very process was off the processor says nothing of
    the server.
    """

    def __init__(self) -> None:
        self._limit_s = 0.0
        self._silent_s = 0.0

    def expect(self, session_timeout_s: float, servers: int) -> None:
        """On a new connection: the time-out that was agreed, and how many servers there are."""
        self._limit_s = session_timeout_s * (SILENCE_SHARE if servers > 1 else 1)
        self._silent_s = 0.0

    @property
    def left_s(self) -> float:
        """A wait for longer would go past the limit."""
        return max(self._limit_s - self._silent_s, 0.0)

    def heard(self) -> None:
        self._silent_s = 0.0

    def waited(self, seconds: float, meant_s: float) -> None:
        """In vain."""
        self._silent_s += min(seconds, meant_s)

    def is_set(self) -> bool:
        return self.left_s == 0

    def set(self) -> None:
        """A ping leaves, which says nothing of the server yet."""

    def clear(self) -> None:
        """The answer to a ping is heard like any other."""


class PatientConnection(ConnectionHandler):  # type: ignore[misc]  # kazoo is untyped
    """kazoo's connection, but for where it turns to, and when it gives a silent server up."""

    def __init__(self, client: KazooClient) -> None:
        super().__init__(client, client._connection.retry_sleeper, logger=client.logger)
        self.ping_outstanding = Silence()
        client.handler.wait = self._wait
        self._served_by: Server | None = None
        self.number = 0
        """Counts the connections that were made."""

    def _wait(self, readers: Sequence[socket], timeout_s: float | None, poll: Poll) -> set[int]:
        """The descriptors that are ready.

        The one wait that other threads can end is for whatever comes next: it is listened to. All
        others are within a request or an answer, and have a time-out of kazoo's.
        """
        if timeout_s is None or self._read_sock not in readers:
            return poll(timeout_s)
        meant_s = min(timeout_s, self.ping_outstanding.left_s)
        began_s = time.monotonic()
        ready = poll(meant_s)
        if self._socket.fileno() in ready:
            self.ping_outstanding.heard()
        else:
            self.ping_outstanding.waited(time.monotonic() - began_s, meant_s)
        return ready

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
