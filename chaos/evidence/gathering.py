"""Rows of clients and the harness, sorted by what they tell.

One row after the other; or a whole group of a Parquet file at once, ten times as fast, of which
sends and their answers alone, the mass of a history, never become rows.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from logquake.chaos.evidence.clients import (
    NONE,
    Clients,
    Column,
    Commit,
    Names,
    Polls,
    Sends,
    Transaction,
)
from logquake.chaos.history.outcomes import Outcome
from logquake.chaos.history.parquet import rows_of
from logquake.chaos.history.rows import Kind, Row

_SEND = ("number", "partition", "process", "sequence", "asked_us", "key", "transaction")
_ANSWER = ("number", "outcome", "offset", "answered_us")
_RUN = ("process", "sequence", "at_us", "partition", "offset", "count", "epoch", "assignment")
_ANSWERS = {
    Kind.ACKED: Outcome.ACKED,
    Kind.REFUSED: Outcome.REFUSED,
    Kind.UNKNOWN: Outcome.UNKNOWN,
}
_WIDE = pa.array([str(kind) for kind in (Kind.SEND, *_ANSWERS)])


def gather(rows: Iterable[Row]) -> Clients:
    """The rows of all processes; those of one process in its order."""
    gathering = _Gathering()
    gathering.take(rows)
    return gathering.clients()


def gather_columns(batches: Iterable[pa.RecordBatch]) -> Clients:
    """The same, of all columns by time; names and the like are dictionaries (history/parquet.py).

    One batch is in memory.
    """
    gathering = _Gathering()
    for batch in batches:
        gathering.take_columns(batch)
    return gathering.clients()


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

    def take(self, rows: Iterable[Row]) -> None:
        takers = self._takers()
        for row in rows:
            taker = takers.get(row.what)
            if taker is not None:
                taker(row)

    def take_columns(self, batch: pa.RecordBatch) -> None:
        """The same. What a send may name, its transaction, is among the others: they come first."""
        what = batch.column("what").cast(pa.string())
        self.take(rows_of(batch.filter(pc.invert(pc.is_in(what, _WIDE)))))
        self._take_sends(batch.filter(pc.equal(what, str(Kind.SEND))))
        for kind, outcome in _ANSWERS.items():
            self._take_answers(batch.filter(pc.equal(what, str(kind))), int(outcome))

    def _take_sends(self, batch: pa.RecordBatch) -> None:
        processes = _numbers(batch.column("process"), self._processes)
        transactions = np.full(len(batch), NONE, np.int64)
        caused_by = _integers(batch.column("caused_by"))
        for at in np.flatnonzero(caused_by != NONE).tolist():
            begun = self._processes[int(processes[at])], int(caused_by[at])
            transactions[at] = self._begun.get(begun, NONE)
        table = (
            _integers(batch.column("value")),
            _numbers(batch.column("subject"), self._partitions),
            processes,
            _integers(batch.column("sequence")),
            _integers(batch.column("at_us")),
            _numbers(batch.column("key"), self._keys),
            transactions,
        )
        self._sends.frombytes(np.column_stack(table).tobytes())
        told = pc.or_(pc.is_valid(batch.column("before")), pc.is_valid(batch.column("after")))
        for row in rows_of(batch.filter(told)):
            self._note_send(row)

    def _take_answers(self, batch: pa.RecordBatch, outcome: int) -> None:
        numbers = _integers(batch.column("value"))
        table = (
            numbers,
            np.full(len(batch), outcome, np.int64),
            _integers(batch.column("offset")),
            _integers(batch.column("at_us")),
        )
        self._answers.frombytes(np.column_stack(table).tobytes())
        why = batch.column("why")
        has_why = pc.is_valid(why).to_numpy(zero_copy_only=False)
        reasons = why.filter(pc.is_valid(why)).to_pylist()
        self._reasons.update(zip(numbers[has_why].tolist(), reasons, strict=True))

    def clients(self) -> Clients:
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
            **{kind: self._answer(outcome) for kind, outcome in _ANSWERS.items()},
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
        if row.before is not None or row.after is not None:
            self._note_send(row)

    def _note_send(self, row: Row) -> None:
        number = NONE if row.value is None else row.value
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
            self._commits[key] = replace(asked, answered_us=row.at_us, result=row.after)


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


def _integers(column: pa.Array) -> Column:
    found: Column = column.fill_null(NONE).to_numpy(zero_copy_only=False)
    return found


def _numbers(column: pa.DictionaryArray, names: Names) -> Column:
    named = column.dictionary.to_pylist()
    indices = _integers(column.indices.cast(pa.int64()))
    known = np.full(len(named) + 1, NONE, np.int64)  # the last is for a null
    for at in np.unique(indices[indices != NONE]).tolist():
        known[at] = names.number(named[at])
    return known[indices]
