"""Lookups that a call of the program waits for: repeated until answered, or given up."""

from __future__ import annotations

from typing import Protocol

from logquake.client.errors import ClientError


class ProgramQuestion(Protocol):
    """``failure`` says why a question that is done has no answer; before, the last failure."""

    failure: ClientError | None

    @property
    def is_done(self) -> bool: ...

    def poll(self, now_ms: int) -> None: ...

    def next_due_ms(self, now_ms: int) -> int | None: ...


class ProgramQuestions:
    """The questions that a call is waiting for."""

    def __init__(self) -> None:
        self._asked: list[ProgramQuestion] = []

    def ask(self, question: ProgramQuestion) -> None:
        self._asked.append(question)

    def drop(self, question: ProgramQuestion) -> None:
        self._asked.remove(question)

    def poll(self, now_ms: int) -> None:
        for question in list(self._asked):
            if not question.is_done:
                question.poll(now_ms)

    def next_due_ms(self, now_ms: int) -> int | None:
        due = (each.next_due_ms(now_ms) for each in self._asked if not each.is_done)
        return min((each for each in due if each is not None), default=None)
