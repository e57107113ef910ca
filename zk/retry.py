"""A session that outlives lost connections: CONNECTION_LOSS becomes a wait and another attempt.

It stands between an owner and a session, and hears the session's events first. An operation is
answered with what ZooKeeper said, or, when its session ended, with SESSION_EXPIRED; never with
CONNECTION_LOSS. The order of submission is kept over any number of attempts.

Caveat: an attempt whose answer was lost may have been applied, so that the next one is refused by
its own success: Create with NODE_EXISTS, Delete with NO_NODE, a versioned write with BAD_VERSION.
Whoever needs to know reads back: the owner of the ephemeral node, or the data written.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from logquake.zk.operations import (
    Failed,
    Operation,
    Session,
    SessionListener,
    WatchEvent,
    ZkError,
)
from logquake.zk.paths import path_of

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class _Waiting:
    operation: Operation[Any]
    done: Callable[[Any], None]

    def expire(self) -> None:
        self.done(Failed(ZkError.SESSION_EXPIRED, path_of(self.operation)))


class RetryingSession:
    """A Session, and the SessionListener of the one below, which ``open_session`` makes."""

    def __init__(
        self, open_session: Callable[[SessionListener], Session], listener: SessionListener
    ) -> None:
        self._listener = listener
        self._waiting: deque[_Waiting] = deque()
        self._connected = False
        self._expired = False
        self._session_id = 0
        self._connection = 0  # counts the times that a session began to serve
        self._session = open_session(self)

    def submit(self, operation: Operation[R], done: Callable[[R | Failed], None]) -> None:
        """Between a session's end and the next one's start, an operation is refused."""
        waiting = _Waiting(operation, done)
        if self._connected or self._expired:
            self._attempt(waiting)
        else:
            self._waiting.append(waiting)

    def close(self) -> None:
        self._waiting.clear()
        self._session.close()

    def on_connected(self, session_id: int) -> None:
        """What waited goes first, before anything that the listener submits now."""
        self._connected = True
        self._expired = False
        self._session_id = session_id
        self._connection += 1
        waiting, self._waiting = self._waiting, deque()
        for one in waiting:
            self._attempt(one)
        self._listener.on_connected(session_id)

    def on_disconnected(self) -> None:
        self._connected = False
        self._listener.on_disconnected()

    def on_expired(self) -> None:
        """What waited belonged to the session that is over."""
        self._connected = False
        self._expired = True
        waiting, self._waiting = self._waiting, deque()
        for one in waiting:
            one.expire()
        self._listener.on_expired()

    def on_watch(self, event: WatchEvent) -> None:
        self._listener.on_watch(event)

    def _attempt(self, waiting: _Waiting) -> None:
        session_id, connection = self._session_id, self._connection

        def settle(outcome: Any) -> None:
            if not (isinstance(outcome, Failed) and outcome.error is ZkError.CONNECTION_LOSS):
                waiting.done(outcome)
            elif self._expired or session_id != self._session_id:
                waiting.expire()
            elif connection != self._connection:
                self._attempt(waiting)  # the answer is late: another connection serves already
            else:
                self._waiting.append(waiting)

        self._session.submit(waiting.operation, settle)
