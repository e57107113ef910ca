"""A transaction's request to a coordinator, and the order of these (TxnRequestHandler)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from enum import IntEnum
from typing import ClassVar, NamedTuple

from logquake.client.producer.idempotence.identity import Identity
from logquake.client.producer.transactions.operation import Operation
from logquake.client.producer.transactions.verdicts import Verdict
from logquake.wire.coordinator_type import CoordinatorType
from logquake.wire.schema import Message


class CoordinatorKey(NamedTuple):
    kind: CoordinatorType
    name: str

    @classmethod
    def of_transactions(cls, transactional_id: str) -> CoordinatorKey:
        return cls(CoordinatorType.TRANSACTION, transactional_id)

    def __str__(self) -> str:
        return f"{self.kind.name.lower()} {self.name}"


class Priority(IntEnum):
    """Requests are sent in this order."""

    COORDINATOR = 0
    PRODUCER_ID = 1
    ADDITION = 2
    # Last, when all batches are done: ending earlier would leave records behind.
    END = 3


class Signature(NamedTuple):
    """Identifies the producer in its requests."""

    transactional_id: str
    identity: Identity


class Question(ABC):
    """``last_version`` is the highest that clients may use, None where that is the schema's.

    ``is_in_turn``: requests of its kind are sent in the order of the program's calls.
    """

    request: ClassVar[type[Message]]
    response: ClassVar[type[Message]]
    last_version: ClassVar[int | None] = None
    is_in_turn: ClassVar[bool] = False

    def __init__(
        self,
        operation: Operation,
        coordinator: CoordinatorKey | None,
        priority: Priority = Priority.ADDITION,
    ) -> None:
        self.operation = operation
        self.priority = priority
        self.coordinator = coordinator  # None: any broker
        self.not_before_ms = 0

    @abstractmethod
    def message(self, version: int, /) -> Message:
        """Raises UnsupportedVersionError if that version cannot express it."""

    @abstractmethod
    def judge(self, answer: Message) -> Verdict:
        """``answer`` is a ``response``."""


class Questions:
    """The waiting requests, by priority, then in the order of arrival."""

    def __init__(self) -> None:
        self._waiting: list[Question] = []

    def __iter__(self) -> Iterator[Question]:
        return iter(self._waiting)

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, question: Question) -> None:
        self._waiting.append(question)
        self._waiting.sort(key=lambda each: each.priority)

    def add_again(self, question: Question) -> None:
        """Others of its priority go first, except those in turn, which must follow it."""
        later = [each for each in self._waiting if each.is_in_turn and type(each) is type(question)]
        for each in later:
            self.remove(each)
        for each in (question, *later):
            self.add(each)

    @property
    def first(self) -> Question | None:
        return self._waiting[0] if self._waiting else None

    def remove(self, question: Question) -> None:
        self._waiting.remove(question)
