"""The answer to a request that waits for the controller: given once, whatever happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from logquake.wire.errors import ErrorCode

M = TypeVar("M")


class AnswerOnce(Generic[M]):
    """``refusal`` makes the answer to a request whose event failed or was dropped."""

    def __init__(self, reply: Callable[[M], None], refusal: Callable[[ErrorCode], M]) -> None:
        self._reply = reply
        self._refusal = refusal
        self._given = False

    def give(self, answer: M) -> None:
        if not self._given:
            self._given = True
            self._reply(answer)

    def fail(self, code: ErrorCode) -> None:
        self.give(self._refusal(code))
