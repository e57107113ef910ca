"""A client under test: a session whose outcomes and events are written down as they arrive."""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Callable
from typing import Any

from logquake.zk.operations import Exists, Operation, Session, SessionListener, WatchEvent
from tests.waiting import PATIENCE_S


class Client:
    """The owner of a session, on whose "loop" (the calling thread) all arrives."""

    def __init__(self, connect: Callable[[SessionListener, Callable[..., None]], Session]) -> None:
        self.log: list[Any] = []
        self.session_id: int | None = None
        self.sessions: list[int] = []
        self._loop: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.session = connect(self, self._loop.put)
        self.run_until(lambda: self.session_id is not None)

    @property
    def events(self) -> list[WatchEvent]:
        return [entry for entry in self.log if isinstance(entry, WatchEvent)]

    def submit(self, operation: Operation[Any]) -> None:
        """Ask; the outcome is logged when it arrives."""
        self.session.submit(operation, self.log.append)

    def perform(self, operation: Operation[Any]) -> Any:
        """Ask and wait; what arrives meanwhile is logged, the outcome is not."""
        outcomes: list[Any] = []
        self.session.submit(operation, outcomes.append)
        self.run_until(lambda: bool(outcomes))
        return outcomes[0]

    def settle(self) -> None:
        """Wait until everything that the server has sent is here."""
        self.perform(Exists("/"))

    def run_until(self, arrived: Callable[[], bool]) -> None:
        """AssertionError when nothing arrives for long, with what arrived last."""
        while not arrived():
            try:
                action = self._loop.get(timeout=PATIENCE_S)
            except queue.Empty:
                raise AssertionError(f"nothing in {PATIENCE_S:g} s after {self.log[-5:]}") from None
            action()

    def run_for(self, seconds: float) -> None:
        """Take in whatever arrives meanwhile."""
        deadline = time.monotonic() + seconds
        while (left_s := deadline - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                self._loop.get(timeout=left_s)()

    def on_connected(self, session_id: int) -> None:
        self.session_id = session_id
        self.sessions.append(session_id)
        self.log.append("connected")

    def on_disconnected(self) -> None:
        self.session_id = None
        self.log.append("disconnected")

    def on_expired(self) -> None:
        self.session_id = None
        self.log.append("expired")

    def on_watch(self, event: WatchEvent) -> None:
        self.log.append(event)
