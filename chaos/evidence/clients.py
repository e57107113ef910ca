"""What clients did: wide kinds of rows as columns, the others as they are.

A send takes 70 bytes, a record that was read 8, whatever they carry. Processes, partitions, keys
and transactions are numbered; -1 stands for none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from logquake.chaos.evidence.stored import Mask
from logquake.chaos.history.rows import Row

Column = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]  # of processes, partitions, keys, transactions
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

    def __len__(self) -> int:
        return len(self.all)


def pick(column: np.ndarray, at: Column) -> Column:
    """The column's element at each place; NONE where there is no place."""
    return np.where(at >= 0, column[at], NONE) if len(column) else np.full(len(at), NONE)


@dataclass(frozen=True, slots=True, eq=False)
class Sends:
    """One element a send: those to a partition lie side by side, by number.

    ``offset`` and ``answered_us`` are -1 where nobody told. ``bounds`` are where each partition's
    begin, and where the last one's end.
    """

    bounds: Column
    number: Column
    partition: Numbers
    process: Numbers
    sequence: Column
    asked_us: Column
    key: Numbers
    transaction: Numbers
    source: Numbers  # the partition of the record that it was made of
    source_offset: Column
    is_tombstone: Mask
    outcome: npt.NDArray[np.int8]  # an Outcome
    offset: Column
    answered_us: Column

    def __len__(self) -> int:
        return len(self.number)

    def within(self, partition: int) -> slice:
        """The places of the sends to that partition."""
        if not 0 <= partition < len(self.bounds) - 1:
            return slice(0, 0)
        return slice(int(self.bounds[partition]), int(self.bounds[partition + 1]))

    def is_sent_to(self, partition: int) -> bool:
        mine = self.within(partition)
        return len(self.number[mine]) > 0

    def find(self, partition: int, numbers: Column) -> Column:
        """The places of these numbers; NONE for those that nobody sent to that partition."""
        mine = self.within(partition)
        known = self.number[mine]
        if not len(known):
            return np.full(len(numbers), NONE, np.int64)
        at = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
        return np.where(known[at] == numbers, at + mine.start, NONE)


class Records(NamedTuple):
    """What was read, record by record; ``run`` is the place of each one's run."""

    offset: Column
    value: Column
    run: Column

    def where(self, chosen: Mask) -> Records:
        return Records(self.offset[chosen], self.value[chosen], self.run[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class Polls:
    """One element a run of contiguous records that an application was handed, in the order of each
    process. Of the numbers of all, ``values``, a run's begin at ``begin``.
    """

    process: Numbers
    at_us: Column
    partition: Numbers
    offset: Column  # of the first
    count: Column
    begin: Column
    assignment: Column  # index into Clients.assignments, or NONE
    values: Column

    def __len__(self) -> int:
        return len(self.offset)

    @property
    def last(self) -> Column:
        """The offset of each run's last record."""
        return self.offset + self.count - 1

    def spread(self, runs: Column) -> Records:
        counts = self.count[runs]
        ends = np.cumsum(counts)
        places = np.arange(ends[-1] if len(ends) else 0)
        offsets = np.repeat(self.offset[runs] - ends + counts, counts) + places
        places += np.repeat(self.begin[runs] - ends + counts, counts)
        return Records(offsets, self.values[places], np.repeat(runs, counts))


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
    reasons: Mapping[int, str]  # number -> why it was refused, or is unknown

    @property
    def last_us(self) -> int:
        """When the last answer came or record was read."""
        ends = [
            column.max() for column in (self.sends.answered_us, self.polls.at_us) if len(column)
        ]
        return int(max(ends, default=0))
