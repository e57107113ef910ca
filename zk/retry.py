"""A session that outlives lost connections: CONNECTION_LOSS becomes a wait and another attempt.

It stands between an owner and a session, and hears the session's events first. An operation is
answered with what ZooKeeper said, or, when its session ended, with SESSION_EXPIRED; never with
CONNECTION_LOSS. The order of submission is kept over any number of attempts.

Caveat: an attempt whose answer was lost may have been applied, so that the next one is refused by
its own success: Create with NODE_EXISTS, Delete with NO_NODE, a versioned write with BAD_VERSION.
Whoever needs to know reads back: the owner of the ephemeral node, or the data written.
"""

from __future__ import annotations

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

_NONE = 0


@dataclass(eq=False, slots=True)
class _Asked:
    """``connection`` is the one over which it is asked, if it does not wait for another."""

    operation: Operation[Any]
    done: Callable[[Any], None]
    connection: int = _NONE

    def expire(self, _outcome: object = None) -> None:
        self.done(Failed(ZkError.SESSION_EXPIRED, path_of(self.operation)))


class RetryingSession:
    """A Session, and the SessionListener of the one below, which ``open_session`` makes."""

    def __init__(
        self, open_session: Callable[[SessionListener], Session], listener: SessionListener
    ) -> None:
        self._listener = listener
        self._unanswered: dict[_Asked, None] = {}  # in the order of submission
        self._connected = False
        self._expired = False
        self._connection = _NONE  # counts the times that a session began to serve
        self._session = open_session(self)

    def submit(self, operation: Operation[R], done: Callable[[R | Failed], None]) -> None:
        """Between a session's end and the next one's start, an operation is refused."""
        asked = _Asked(operation, done)
        if self._expired:
            self._session.submit(operation, asked.expire)
            return
        self._unanswered[asked] = None
        if self._connected:
            self._attempt(asked)

    def close(self) -> None:
        for asked in self._unanswered:
            asked.connection = _NONE
        self._session.close()

    def on_connected(self, session_id: int) -> None:
        """What has no answer goes first, before anything that the listener submits now.

        Answers come before the loss of their connection is told: what has none now gets none, also
        if that it was lost is not told yet.
        """
        self._connected = True
        self._expired = False
        self._connection += 1
        for asked in list(self._unanswered):
            self._attempt(asked)
        self._listener.on_connected(session_id)

    def on_disconnected(self) -> None:
        self._connected = False
        self._listener.on_disconnected()

    def on_expired(self) -> None:
        """What waits belonged to the session that is over; so did what is in flight, to be told."""
        self._connected = False
        self._expired = True
        unanswered, self._unanswered = self._unanswered, {}
        for asked in unanswered:
            if asked.connection == _NONE:
                asked.expire()
        self._listener.on_expired()

    def on_watch(self, event: WatchEvent) -> None:
        self._listener.on_watch(event)

    def _attempt(self, asked: _Asked) -> None:
        connection = asked.connection = self._connection

        def settle(outcome: Any) -> None:
            if asked.connection != connection:
                return  # it was asked again since
            if not (isinstance(outcome, Failed) and outcome.error is ZkError.CONNECTION_LOSS):
                self._unanswered.pop(asked, None)
                asked.done(outcome)
            elif asked in self._unanswered:
                asked.connection = _NONE
            else:
                asked.expire()

        self._session.submit(asked.operation, settle)
