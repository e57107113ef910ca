"""One event at a time: the controller's decisions never interleave.

An event is a procedure over ZooKeeper; the next one starts when it has ended, so that each sees
what the one before it wrote (Kafka's ControllerEventManager). An event that fails goes to the
owner's recovery, as part of the same turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from logquake.wire.errors import ErrorCode
from logquake.zk.operations import Session, ZkError
from logquake.zk.procedure import Procedure, ZkFailure, run
from logquake.zk.znodes.json_text import MalformedZnode


class ControllerMoved(Exception):  # noqa: N818 - it happened to us, it is no bug
    """Another controller has been elected: what this one meant to write was refused."""


_OF_THE_SESSION = {ZkError.SESSION_EXPIRED, ZkError.CONNECTION_LOSS}

Failure = ControllerMoved | ZkFailure | MalformedZnode


def _nobody_asked(_code: ErrorCode) -> None:
    """For events that no request waits for."""


@dataclass(frozen=True, slots=True)
class ControllerEvent:
    """``abandon`` is told the error if the event is dropped or fails: who asked gets an answer."""

    name: str
    procedure: Callable[[], Procedure[None]]
    abandon: Callable[[ErrorCode], None] = _nobody_asked


class EventQueue:
    def __init__(
        self,
        session: Session,
        recover: Callable[[ControllerEvent, Failure], Procedure[None]],
    ) -> None:
        self._session = session
        self._recover = recover
        self._waiting: deque[ControllerEvent] = deque()
        self._busy = False
        self._starting = False

    def put(self, event: ControllerEvent) -> None:
        self._waiting.append(event)
        self._start_waiting()

    def clear(self, code: ErrorCode) -> None:
        """Drop what waits; the event in progress goes on to its end."""
        dropped, self._waiting = self._waiting, deque()
        for event in dropped:
            event.abandon(code)

    def _start_waiting(self) -> None:
        if self._starting:  # an event ended without ever waiting: the loop below goes on
            return
        self._starting = True
        try:
            while self._waiting and not self._busy:
                self._busy = True
                run(self._session, self._process(self._waiting.popleft()), self._ended)
        finally:
            self._starting = False

    async def _process(self, event: ControllerEvent) -> None:
        try:
            await event.procedure()
        except (ControllerMoved, ZkFailure, MalformedZnode) as failure:
            event.abandon(_code_of(failure))
            await self._recover(event, failure)

    def _ended(self, _outcome: Any) -> None:
        # A failure of the recovery itself: ZooKeeper is gone, and the session's end follows.
        self._busy = False
        self._start_waiting()


def session_is_over(failure: Failure) -> bool:
    return isinstance(failure, ZkFailure) and failure.failed.error in _OF_THE_SESSION


def _code_of(failure: Failure) -> ErrorCode:
    """What the next controller may well do is worth asking again: clients do on NOT_CONTROLLER.

    Kafka answers UNKNOWN_SERVER_ERROR when its session ends amid a request, which clients take
    for final.
    """
    if isinstance(failure, ControllerMoved) or session_is_over(failure):
        return ErrorCode.NOT_CONTROLLER
    return ErrorCode.UNKNOWN_SERVER_ERROR
