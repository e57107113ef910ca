"""Responses, delivered after all received bytes are processed, since receivers may send."""

from __future__ import annotations

from collections import deque

from logquake.client.network.link import Answer, Done


class PendingAnswers:
    def __init__(self) -> None:
        self._waiting: deque[tuple[Done, Answer]] = deque()

    def add(self, done: Done, answer: Answer) -> None:
        self._waiting.append((done, answer))

    @property
    def any(self) -> bool:
        return bool(self._waiting)

    def tell(self) -> None:
        """Deliver in order, including those added meanwhile."""
        while self._waiting:
            done, answer = self._waiting.popleft()
            done(answer)
