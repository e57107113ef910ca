"""What clients did, out of the rows that they wrote: wide kinds as columns, the others as they are.

A send takes about 130 bytes, a record that was read 50, whatever they carry. Processes, partitions,
keys and transactions are numbered in the order in which they are met; -1 stands for none.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from logquake.chaos.history.outcomes import Outcome
from logquake.chaos.history.rows import Kind, Row

Column = npt.NDArray[np.int64]
NONE = -1

_SEND = ("number", "partition", "process", "sequence", "asked_us", "key", "transaction")
_ORIGIN = ("number", "partition", "offset")
_ANSWER = ("number", "outcome", "offset", "answered_us")
_RUN = ("process", "sequence", "at_us", "partition", "offset", "count", "epoch", "assignment")


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


def gather(rows: Iterable[Row]) -> Clients:
    """The rows of all processes; those of one process in its order."""
    return _Gathering().run(rows)


@dataclass(slots=True)
class _Gathering:
    _processes: Names = field(default_factory=Names)
    _partitions: Names = field(default_factory=Names)
    _keys: Names = field(default_factory=Names)
    _sends: array[int] = field(default_factory=lambda: array("q"))
    _answers: array[int] = field(default_factory=lambda: array("q"))
    _runs: array[int] = field(default_factory=lambda: array("q"))
    _values: array[int] = field(default_factory=lambda: array("q"))
    _origins: dict[int, tuple[str, int]] = field(default_factory=dict)
    _tombstones: set[int] = field(default_factory=set)
    _reasons: dict[int, str] = field(default_factory=dict)
    _transactions: list[Transaction] = field(default_factory=list)
    _begun: dict[tuple[str, int], int] = field(default_factory=dict)
    _assignments: list[Row] = field(default_factory=list)
    _held: dict[tuple[str, str], int] = field(default_factory=dict)
    _commits: dict[tuple[str, int], Commit] = field(default_factory=dict)
    _kept: dict[str, list[Row]] = field(default_factory=dict)
    _told: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    _began_us: dict[str, int] = field(default_factory=dict)
    _ended: set[str] = field(default_factory=set)

    def run(self, rows: Iterable[Row]) -> Clients:
        take = self._takers()
        for row in rows:
            taker = take.get(row.what)
            if taker is not None:
                taker(row)
        return Clients(
            self._processes,
            self._partitions,
            self._keys,
            _joined(_columns(self._sends, _SEND), _columns(self._answers, _ANSWER)),
            self._origins,
            _spread(_columns(self._runs, _RUN), np.array(self._values, np.int64)),
            self._transactions,
            self._assignments,
            self._kept.get(Kind.REVOKED, []),
            list(self._commits.values()),
            self._kept.get(Kind.OBSERVED, []),
            [row for kind in _FAULTS for row in self._kept.get(kind, ())],
            self._told,
            self._began_us,
            frozenset(self._ended),
            frozenset(self._tombstones),
            self._reasons,
        )

    def _takers(self) -> Mapping[str, Callable[[Row], None]]:
        return {
            Kind.BEGAN: self._begin,
            Kind.ENDED: lambda row: self._ended.add(row.process),
            Kind.SEND: self._send,
            Kind.ACKED: self._answer(Outcome.ACKED),
            Kind.REFUSED: self._answer(Outcome.REFUSED),
            Kind.UNKNOWN: self._answer(Outcome.UNKNOWN),
            Kind.POLLED: self._poll,
            Kind.ASSIGNED: self._assign,
            Kind.TRANSACTION_BEGUN: self._begin_transaction,
            Kind.TRANSACTION_ENDING: self._ask_to_end,
            Kind.TRANSACTION_ENDED: self._end_transaction,
            Kind.COMMIT_ASKED: self._ask_commit,
            Kind.COMMIT_ANSWERED: self._answer_commit,
            **dict.fromkeys((Kind.REVOKED, Kind.OBSERVED, *_FAULTS), self._keep),
        }

    def _keep(self, row: Row) -> None:
        self._kept.setdefault(row.what, []).append(row)

    def _begin(self, row: Row) -> None:
        self._told[row.process] = row.after or {}
        self._began_us[row.process] = row.at_us

    def _send(self, row: Row) -> None:
        number = NONE if row.value is None else row.value
        transaction = (
            NONE if row.caused_by is None else self._begun.get((row.process, row.caused_by), NONE)
        )
        self._sends.extend(
            (
                number,
                self._partitions.number(row.subject),
                self._processes.number(row.process),
                row.sequence,
                row.at_us,
                NONE if row.key is None else self._keys.number(row.key),
                transaction,
            )
        )
        if row.before is not None:
            self._origins[number] = (row.before[0], row.before[1])
        if row.after == "tombstone":
            self._tombstones.add(number)

    def _answer(self, outcome: Outcome) -> Callable[[Row], None]:
        code = int(outcome)

        def take(row: Row) -> None:
            number = NONE if row.value is None else row.value
            offset = NONE if row.offset is None else row.offset
            self._answers.extend((number, code, offset, row.at_us))
            if row.why is not None:
                self._reasons[number] = row.why

        return take

    def _poll(self, row: Row) -> None:
        values = row.values or ()
        self._values.extend(values)
        self._runs.extend(
            (
                self._processes.number(row.process),
                row.sequence,
                row.at_us,
                self._partitions.number(row.subject),
                NONE if row.offset is None else row.offset,
                len(values),
                NONE if row.epoch is None else row.epoch,
                self._held.get((row.process, row.subject), NONE),
            )
        )

    def _assign(self, row: Row) -> None:
        self._held[row.process, row.subject] = len(self._assignments)
        self._assignments.append(row)

    def _begin_transaction(self, row: Row) -> None:
        self._begun[row.process, row.sequence] = len(self._transactions)
        self._transactions.append(Transaction(row.subject, row.process, row.at_us))

    def _ask_to_end(self, row: Row) -> None:
        for transaction in self._transaction_of(row):
            transaction.asked, transaction.asked_us = row.after, row.at_us

    def _end_transaction(self, row: Row) -> None:
        for transaction in self._transaction_of(row):
            transaction.outcome = row.after

    def _transaction_of(self, row: Row) -> Iterator[Transaction]:
        index = self._begun.get((row.process, row.caused_by or 0))
        if index is not None:
            yield self._transactions[index]

    def _ask_commit(self, row: Row) -> None:
        self._commits[row.process, row.sequence] = Commit(
            row.process,
            row.group or "",
            row.subject,
            row.offset or 0,
            row.epoch,
            self._begun.get((row.process, row.caused_by or 0), NONE),
            row.at_us,
        )

    def _answer_commit(self, row: Row) -> None:
        key = row.process, row.caused_by or 0
        asked = self._commits.get(key)
        if asked is not None:
            self._commits[key] = Commit(
                asked.process,
                asked.group,
                asked.partition,
                asked.offset,
                asked.generation,
                asked.transaction,
                asked.asked_us,
                row.at_us,
                row.after,
            )


_FAULTS = (Kind.FAULT_BEGUN, Kind.FAULT_ENDED)


def _columns(flat: array[int], names: tuple[str, ...]) -> dict[str, Column]:
    table = np.frombuffer(flat, np.int64) if flat else np.empty(0, np.int64)
    return dict(zip(names, table.reshape(-1, len(names)).T, strict=True))


def _joined(asked: dict[str, Column], answers: dict[str, Column]) -> Sends:
    """Every send with its answer."""
    order = np.argsort(asked["number"], kind="stable")
    columns = {name: np.ascontiguousarray(column[order]) for name, column in asked.items()}
    size = len(order)
    told = {
        "outcome": np.full(size, int(Outcome.UNKNOWN), np.int64),
        "offset": np.full(size, NONE, np.int64),
        "answered_us": np.full(size, NONE, np.int64),
    }
    sends = Sends(**columns, **told)
    at = sends.find(answers["number"])
    for name, column in told.items():
        column[at[at >= 0]] = answers[name][at >= 0]
    return sends


def _spread(runs: dict[str, Column], values: Column) -> Polls:
    """Every record of every run."""
    counts = runs["count"]
    begins = np.cumsum(counts) - counts
    within = np.arange(len(values)) - np.repeat(begins, counts)
    spread = {
        name: np.repeat(runs[name], counts)
        for name in ("process", "at_us", "partition", "epoch", "assignment")
    }
    return Polls(offset=np.repeat(runs["offset"], counts) + within, value=values, **spread)
