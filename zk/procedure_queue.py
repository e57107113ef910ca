"""Procedures of one owner that must not interleave: the next one starts when the last has ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from logquake.zk.operations import Session
from logquake.zk.procedure import Procedure, run


class ProcedureQueue:
    """A ZkFailure ends the procedure that raises it, and no other; who must know of it catches it.

    What a session's end cuts short its owner begins anew in the next session.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._waiting: deque[Callable[[], Procedure[None]]] = deque()
        self._is_busy = False

    def put(self, procedure: Callable[[], Procedure[None]]) -> None:
        self._waiting.append(procedure)
        self._start_next()

    def _start_next(self) -> None:
        while self._waiting and not self._is_busy:
            self._is_busy = True
            run(self._session, self._waiting.popleft()(), self._ended)

    def _ended(self, _outcome: Any) -> None:
        self._is_busy = False
        self._start_next()
