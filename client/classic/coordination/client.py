"""ZooKeeper for blocking threads (org.I0Itec.zkclient.ZkClient).

One thread owns the session: it runs the procedures of several threads concurrently, and reports
events. It waits for a lost connection to return; it reports the end of the session.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from logquake.client.classic.errors import ZooKeeperError, ZooKeeperTimeoutError
from logquake.client.errors import ClosedError
from logquake.zk.operations import Failed, Operation, Session, SessionListener, WatchEvent
from logquake.zk.procedure import Procedure, ZkFailure, run
from logquake.zk.znodes.json_text import MalformedZnode

T = TypeVar("T")
R = TypeVar("R")

Post = Callable[[Callable[[], None]], None]
OpenSession = Callable[[SessionListener, Post], Session]
"""Makes a session, which reports everything by posting it."""


@dataclass(frozen=True, slots=True)
class Raised:
    """The exception that ended a procedure."""

    error: Exception


class ZkClient:
    """``on_watch`` and ``on_new_session`` are called on its thread, and must not block. The second
    is called when ephemeral nodes and watches are gone, not for the first session.
    """

    def __init__(
        self,
        open_session: OpenSession,
        *,
        connection_timeout_ms: int,
        call_timeout_ms: int,
        on_watch: Callable[[WatchEvent], None],
        on_new_session: Callable[[], None],
    ) -> None:
        """Raises ZooKeeperTimeoutError if there is no session in time."""
        self.session_id = 0  # the current one, or the last
        self._call_timeout_s = call_timeout_ms / 1000
        self._on_watch = on_watch
        self._on_new_session = on_new_session
        self._has_begun = threading.Event()
        self._is_closed = False
        self._actions: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._session = open_session(_Listener(self), self._actions.put)
        self._thread = threading.Thread(target=self._run, name="zk-client", daemon=True)
        self._thread.start()
        if not self._has_begun.wait(connection_timeout_ms / 1000):
            self.close()
            raise ZooKeeperTimeoutError(f"no session of ZooKeeper in {connection_timeout_ms} ms")

    def run(self, procedure: Procedure[T]) -> T:
        """Run the procedure, and return its result. Raises what it raises, with ZooKeeperError for
        ZkFailure and for an invalid node; ZooKeeperTimeoutError if it takes too long: its requests
        may have succeeded, and it makes no more.
        """
        if self._is_closed:
            procedure.close()
            raise ClosedError("the session of ZooKeeper was closed")
        call = _Call(self._session, procedure)
        self._actions.put(lambda: call.begin(self._actions.put))
        try:
            outcome = call.ended.result(self._call_timeout_s)
        except TimeoutError:
            self._actions.put(call.give_up)
            raise ZooKeeperTimeoutError(
                f"ZooKeeper did not answer in {self._call_timeout_s:g} s"
            ) from None
        if isinstance(outcome, Raised):
            if isinstance(outcome.error, ZkFailure | MalformedZnode):
                raise ZooKeeperError(str(outcome.error)) from outcome.error
            raise outcome.error
        return outcome

    def close(self) -> None:
        """End the session, with its ephemeral nodes."""
        if self._is_closed:
            return
        self._is_closed = True
        self._actions.put(self._session.close)
        self._actions.put(None)
        self._thread.join()

    def connected(self, session_id: int) -> None:
        """Called by the session."""
        is_another = self._has_begun.is_set() and session_id != self.session_id
        self.session_id = session_id
        self._has_begun.set()
        if is_another:
            self._on_new_session()

    def watched(self, event: WatchEvent) -> None:
        self._on_watch(event)

    def _run(self) -> None:
        while (action := self._actions.get()) is not None:
            action()


class _Listener:
    def __init__(self, client: ZkClient) -> None:
        self._client = client

    def on_connected(self, session_id: int) -> None:
        self._client.connected(session_id)

    def on_disconnected(self) -> None: ...

    def on_expired(self) -> None:
        """A new session is being made."""

    def on_watch(self, event: WatchEvent) -> None:
        self._client.watched(event)


class _Call(Generic[T]):
    """A running procedure, with its own Session, which goes silent once it is given up."""

    def __init__(self, session: Session, procedure: Procedure[T]) -> None:
        self.ended: Future[T | Raised] = Future()
        self._session = session
        self._procedure = procedure
        self._is_given_up = False

    def begin(self, later: Post) -> None:
        run(self, _guarded(self._procedure), self._end, later)

    def submit(self, operation: Operation[R], done: Callable[[R | Failed], None]) -> None:
        def settle(outcome: R | Failed) -> None:
            if not self._is_given_up:
                done(outcome)

        self._session.submit(operation, settle)

    def close(self) -> None: ...

    def give_up(self) -> None:
        self._is_given_up = True
        self._procedure.close()

    def _end(self, outcome: Any) -> None:
        if not self._is_given_up:
            self.ended.set_result(outcome)


async def _guarded(procedure: Procedure[T]) -> T | Raised:
    """Its exceptions do not end the thread."""
    try:
        return await procedure
    except Exception as error:  # noqa: BLE001 - raised again in the waiting thread
        return Raised(error)
