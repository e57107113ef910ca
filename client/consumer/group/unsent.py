"""Requests that cannot be sent to the coordinator yet (ConsumerNetworkClient's UnsentRequests)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from logquake.client.network.link import Answer
from logquake.wire.schema import Message

Done: TypeAlias = Callable[[Answer, int], None]
"""Called with the response, and the time."""


class Question(NamedTuple):
    """``build`` takes the version; ``at_least`` is the first version that can express the request.

    ``timeout_ms``, None for request.timeout.ms, limits the wait before it is sent, and again the
    wait for its response.
    """

    request: type[Message]
    response: type[Message]
    build: Callable[[int], Message]
    done: Done
    timeout_ms: int | None = None
    at_least: int = 0


class Unsent:
    """In the order of the calls."""

    def __init__(self, request_timeout_ms: int) -> None:
        self._request_timeout_ms = request_timeout_ms
        self._new: list[Question] = []  # since `keep`
        self._kept: deque[tuple[Question, int]] = deque()
        self._look_again_ms: int | None = None  # none is overdue before then

    def __bool__(self) -> bool:
        return bool(self._kept or self._new)

    def add(self, question: Question) -> None:
        self._new.append(question)

    def keep(self, now_ms: int) -> None:
        """Start the timeouts of the new requests."""
        for question in self._new:
            own_ms = question.timeout_ms
            until_ms = now_ms + (self._request_timeout_ms if own_ms is None else own_ms)
            self._kept.append((question, until_ms))
            self._look_again_by(until_ms)
        self._new.clear()

    def take_next(self) -> Question | None:
        """The next of the kept requests."""
        return self._kept.popleft()[0] if self._kept else None

    def take_overdue(self, now_ms: int) -> list[Question]:
        if self._look_again_ms is None or self._look_again_ms > now_ms:
            return []
        kept, self._kept, self._look_again_ms = self._kept, deque(), None
        overdue = []
        for question, until_ms in kept:
            if until_ms <= now_ms:
                overdue.append(question)
            else:
                self._kept.append((question, until_ms))
                self._look_again_by(until_ms)
        return overdue

    def take_all(self) -> list[Question]:
        taken = [question for question, _ in self._kept] + self._new
        self._kept.clear()
        self._new.clear()
        return taken

    def next_due_ms(self) -> int | None:
        return self._look_again_ms if self._kept else None

    def _look_again_by(self, until_ms: int) -> None:
        if self._look_again_ms is None or until_ms < self._look_again_ms:
            self._look_again_ms = until_ms
