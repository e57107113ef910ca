"""The model of ZooKeeper, for clients on threads of their own."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any

from logquake.client.classic.coordination.client import Post
from logquake.zk.model_session import ModelServer, ModelSession
from logquake.zk.operations import Operation, Session, SessionListener


class SharedZooKeeper:
    """One thread at a time is in the model. While it ``is_silent`` it answers nothing."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.is_silent = False
        self._server = ModelServer()

    def open_session(self, listener: SessionListener, post: Post) -> Session:
        with self.lock:
            return _Locked(self._server.connect(listener, post), self)

    def expire(self, session_id: int) -> None:
        with self.lock:
            self._server.expire(session_id)


class _Locked:
    def __init__(self, session: ModelSession, owner: SharedZooKeeper) -> None:
        self._session = session
        self._owner = owner

    def submit(self, operation: Operation[Any], done: Callable[[Any], None]) -> None:
        with self._owner.lock:
            if not self._owner.is_silent:
                self._session.submit(operation, done)

    def close(self) -> None:
        with self._owner.lock:
            self._session.close()
