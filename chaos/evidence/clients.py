"""What clients did: wide kinds of rows as columns, the others as they are.

A send takes about 130 bytes, a record that was read 50, whatever they carry. Processes, partitions,
keys and transactions are numbered in the order in which they are met; -1 stands for none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from logquake.chaos.history.rows import Row

Column = npt.NDArray[np.int64]
Share = frozenset[str]  # some of the partitions, judged by themselves
NONE = -1


class Names:
    """Names by number, in the order in which they were met."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.all: list[str] = []

    def number(self, name: str) -> int:
        number = self._numbers.get(name, NONE)
        if number == NONE:
            number = self._numbers[name] = len(self.all)
            self.all.append(name)
        return number

    def known(self, name: str) -> int:
        return self._numbers.get(name, NONE)

    def __getitem__(self, number: int) -> str:
        return self.all[number]


def pick(column: Column, at: Column) -> Column:
    """The column's element at each place; NONE where there is no place."""
    return np.where(at >= 0, column[at], NONE) if len(column) else np.full(len(at), NONE)


@dataclass(frozen=True, slots=True, eq=False)
class Sends:
    """One element a send, by number. ``offset`` and ``answered_us`` are -1 where nobody told."""

    number: Column
    partition: Column
    process: Column
    sequence: Column
    asked_us: Column
    key: Column
    transaction: Column
    outcome: Column  # an Outcome
    offset: Column
    answered_us: Column

    def __len__(self) -> int:
        return len(self.number)

    def find(self, numbers: Column) -> Column:
        """The places of these numbers in the columns; NONE for those that nobody sent."""
        if not len(self.number):
            return np.full(len(numbers), NONE, np.int64)
        at = np.minimum(np.searchsorted(self.number, numbers), len(self.number) - 1)
        return np.where(self.number[at] == numbers, at, NONE)


@dataclass(frozen=True, slots=True, eq=False)
class Polls:
    """One element a record that was handed to an application, in the order of each process."""

    process: Column
    at_us: Column
    partition: Column
    offset: Column
    value: Column
    epoch: Column
    assignment: Column  # index into Clients.assignments, or NONE

    def __len__(self) -> int:
        return len(self.offset)


@dataclass(slots=True)
class Transaction:
    """``asked`` is "commit" or "abort"; None while it was not asked to end."""

    name: str  # the transactional id
    process: str
    begun_us: int
    asked: str | None = None
    asked_us: int = NONE
    outcome: str = "unknown"

    def __str__(self) -> str:
        return f"the transaction that {self.process} began as {self.name!r}"


@dataclass(frozen=True, slots=True)
class Commit:
    """A group's commit. ``result`` is "kept", "refused" or "unknown"."""

    process: str
    group: str
    partition: str
    offset: int
    generation: int | None
    transaction: int
    asked_us: int
    answered_us: int | None = None
    result: str = "unknown"


@dataclass(slots=True, eq=False)
class Clients:
    """Everything; ``told`` is what each process was told to do, ``looks`` and ``faults`` are the
    harness's rows, ``ended`` the processes that were not killed.
    """

    processes: Names
    partitions: Names
    keys: Names
    sends: Sends
    origins: Mapping[int, tuple[str, int]]  # number -> the place of what it was made of
    polls: Polls
    transactions: list[Transaction]
    assignments: list[Row]
    revoked: list[Row]
    commits: list[Commit]
    looks: list[Row]
    faults: list[Row]
    told: Mapping[str, Mapping[str, Any]]
    began_us: Mapping[str, int]
    ended: frozenset[str]
    tombstones: frozenset[int]
    reasons: Mapping[int, str]  # number -> why it was refused, or is unknown

    @property
    def last_us(self) -> int:
        """When the last answer came or record was read."""
        ends = [
            column.max() for column in (self.sends.answered_us, self.polls.at_us) if len(column)
        ]
        return int(max(ends, default=0))
