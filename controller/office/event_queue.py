"""One event at a time: the controller's decisions never interleave.

An event is a procedure over ZooKeeper; the next one starts when it has ended, so that each sees
what the one before it wrote (Kafka's ControllerEventManager). An event that fails goes to the
owner's recovery, as part of the same turn.

Kafka has one queue, so that an election waits until a thousand topics are created. Here urgent
events go before the others, and an event of long work gives way to them between two pieces of it.
Among themselves they keep their order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from logquake.controller.zookeeper.guarded_zk import ControllerMoved
from logquake.wire.errors import ErrorCode
from logquake.zk.operations import Session, ZkError
from logquake.zk.procedure import Later, Procedure, ZkFailure, pause, run
from logquake.zk.znodes.json_text import MalformedZnode

URGENT = frozenset(
    {
        "allocate-producer-ids",
        "alter-partition",
        "broker-accepts",
        "broker-modified",
        "broker-refused",
        "brokers-changed",
        "controlled-shutdown",
        "controller-refused",
        "deletion-answered",
        "elect-leaders",
        "leader-and-isr-answered",
        "log-dirs-failed",
        "unclean-election-enabled",
    }
)
"""Names of the events for which somebody who produces or consumes may be waiting, and of what must
keep its order among them."""

Failure = ControllerMoved | ZkFailure | MalformedZnode


def _nobody_asked(_code: ErrorCode) -> None:
    """For events that no request waits for."""


@dataclass(frozen=True, slots=True)
class ControllerEvent:
    """``abandon`` is told the error if the event is dropped or fails: who asked gets an answer."""

    name: str
    procedure: Callable[[], Procedure[None]]
    abandon: Callable[[ErrorCode], None] = _nobody_asked

    @property
    def is_urgent(self) -> bool:
        return self.name in URGENT


class EventQueue:
    """``later`` calls an action once the loop has had its turn."""

    def __init__(
        self,
        session: Session,
        recover: Callable[[ControllerEvent, Failure], Procedure[None]],
        later: Later,
    ) -> None:
        self._session = session
        self._recover = recover
        self._later = later
        self._urgent: deque[ControllerEvent] = deque()
        self._waiting: deque[ControllerEvent] = deque()
        self._current: ControllerEvent | None = None
        self._starting = False

    def put(self, event: ControllerEvent) -> None:
        (self._urgent if event.is_urgent else self._waiting).append(event)
        self._start_waiting()

    def clear(self, code: ErrorCode) -> None:
        """Drop what waits; the event in progress goes on to its end."""
        dropped = [*self._urgent, *self._waiting]
        self._urgent.clear()
        self._waiting.clear()
        for event in dropped:
            event.abandon(code)

    async def give_way(self) -> None:
        """Within an event, between two pieces of its work: the loop has its turn, then urgent
        events that wait. What was known before may have changed. An urgent event gives way to
        the loop alone.
        """
        await pause()
        current = self._current
        if current is not None and not current.is_urgent:
            while self._urgent:
                await self._process(self._urgent.popleft())
            self._current = current

    def _start_waiting(self) -> None:
        if self._starting:  # an event ended without ever waiting: the loop below goes on
            return
        self._starting = True
        try:
            while self._current is None and (self._urgent or self._waiting):
                event = (self._urgent or self._waiting).popleft()
                self._current = event
                run(self._session, self._process(event), self._ended, self._later)
        finally:
            self._starting = False

    async def _process(self, event: ControllerEvent) -> None:
        self._current = event
        try:
            await event.procedure()
        except (ControllerMoved, ZkFailure, MalformedZnode) as failure:
            event.abandon(_code_of(failure))
            await self._recover(event, failure)

    def _ended(self, _outcome: Any) -> None:
        # A failure of the recovery itself: ZooKeeper is gone, and the session's end follows.
        self._current = None
        self._start_waiting()


class SessionWork:
    """Events that need a ZooKeeper session but not the office: whichever there is, does them.

    What a session leaves undone when it ends is begun anew in the next one. Nothing of it may write
    as the controller.
    """

    def __init__(self, queue: EventQueue) -> None:
        self._queue = queue
        self._unfinished: list[ControllerEvent] = []

    def put(self, name: str, procedure: Callable[[], Procedure[None]]) -> None:
        event = ControllerEvent(name, procedure, lambda _code: self._unfinished.append(event))
        self._queue.put(event)

    def resume(self) -> None:
        """A session serves."""
        unfinished, self._unfinished = self._unfinished, []
        for event in unfinished:
            self._queue.put(event)


def session_is_over(failure: Failure) -> bool:
    """A lost connection never shows: the session retries over it (zk/retry.py)."""
    return isinstance(failure, ZkFailure) and failure.failed.error is ZkError.SESSION_EXPIRED


def _code_of(failure: Failure) -> ErrorCode:
    """What the next controller may well do is worth asking again: clients do on NOT_CONTROLLER.

    Kafka answers UNKNOWN_SERVER_ERROR when its session ends amid a request, which clients take
    for final.
    """
    if isinstance(failure, ControllerMoved) or session_is_over(failure):
        return ErrorCode.NOT_CONTROLLER
    return ErrorCode.UNKNOWN_SERVER_ERROR
