"""Rows of clients and the harness, sorted by what they tell.

The mass of a history, sends, their answers and what was read, never becomes rows: a group of them
is a few columns, whatever their order. The others are few, and taken one by one once all are there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pyarrow as pa

from logquake.chaos.evidence.clients import (
    NONE,
    Clients,
    Column,
    Names,
    Numbers,
    Polls,
    Sends,
)
from logquake.chaos.evidence.columns import equals, integers, translated, valid
from logquake.chaos.evidence.few_rows import FAULTS, TAKERS, Told
from logquake.chaos.evidence.places import bounds_of, columns_of, last_before
from logquake.chaos.history.outcomes import Outcome
from logquake.chaos.history.parquet import batches_of, rows_of
from logquake.chaos.history.rows import Kind, Row

_ANSWERS = {
    Kind.ACKED: Outcome.ACKED,
    Kind.REFUSED: Outcome.REFUSED,
    Kind.UNKNOWN: Outcome.UNKNOWN,
}

_IN_COLUMNS: Mapping[str, Sequence[str]] = {
    Kind.SEND: (
        "value",
        "subject",
        "process",
        "sequence",
        "at_us",
        "key",
        "caused_by",
        "before",
        "after",
    ),
    **dict.fromkeys(_ANSWERS, ("value", "subject", "offset", "at_us", "why")),
    Kind.POLLED: ("process", "sequence", "at_us", "subject", "offset", "values"),
}
_AS_ROWS = len(_IN_COLUMNS)  # the number of all other kinds


def gather(rows: Iterable[Row]) -> Clients:
    """The rows of all processes, in any order."""
    return gather_columns(batches_of(rows))


def gather_columns(batches: Iterable[pa.RecordBatch]) -> Clients:
    """The same, of batches of all columns; names and the like are dictionaries
    (history/parquet.py).
    """
    gathering = _Gathering()
    for batch in batches:
        gathering.take(batch)
    return gathering.clients()


class _Pieces:
    """Columns that grow by pieces, which are let go once they are joined."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[np.ndarray]] = {}

    def add(self, **pieces: np.ndarray) -> None:
        for name, piece in pieces.items():
            self._pieces.setdefault(name, []).append(piece)

    def joined(self, name: str) -> np.ndarray:
        pieces = self._pieces.pop(name, None)
        return np.concatenate(pieces) if pieces else np.empty(0, np.int64)


@dataclass(slots=True)
class _Gathering:
    _processes: Names = field(default_factory=Names)
    _partitions: Names = field(default_factory=Names)
    _keys: Names = field(default_factory=Names)
    _asked: _Pieces = field(default_factory=_Pieces)
    _answers: _Pieces = field(default_factory=_Pieces)
    _runs: _Pieces = field(default_factory=_Pieces)
    _reasons: dict[int, str] = field(default_factory=dict)
    _rows: list[Row] = field(default_factory=list)

    def take(self, batch: pa.RecordBatch) -> None:
        kinds = translated(batch.column("what"), _number_of_kind)
        for number, (kind, names) in enumerate(_IN_COLUMNS.items()):
            of_kind = np.flatnonzero(kinds == number)
            if len(of_kind):
                self._take_columns(kind, batch.select(names).take(pa.array(of_kind)))
        self._rows += rows_of(batch.take(pa.array(np.flatnonzero(kinds == _AS_ROWS))))

    def _take_columns(self, kind: str, batch: pa.RecordBatch) -> None:
        if kind == Kind.SEND:
            self._take_sends(batch)
        elif kind == Kind.POLLED:
            self._take_runs(batch)
        else:
            self._take_answers(batch, _ANSWERS[Kind(kind)])

    def _take_sends(self, batch: pa.RecordBatch) -> None:
        source, source_offset = self._sources(batch.column("before"))
        self._asked.add(
            number=integers(batch.column("value")),
            partition=translated(batch.column("subject"), self._partitions.number),
            process=translated(batch.column("process"), self._processes.number),
            sequence=integers(batch.column("sequence")),
            asked_us=integers(batch.column("at_us")),
            key=translated(batch.column("key"), self._keys.number),
            begun=integers(batch.column("caused_by")),
            source=source,
            source_offset=source_offset,
            is_tombstone=equals(batch.column("after"), _TOMBSTONE),
        )

    def _sources(self, told: pa.Array) -> tuple[Numbers, Column]:
        """Of what each was made, of those that were made of anything."""
        partitions, offsets = np.full(len(told), NONE, np.int32), np.full(len(told), NONE, np.int64)
        made = valid(told)
        for at, text in zip(made.tolist(), told.drop_null().to_pylist(), strict=True):
            partition, offset = json.loads(text)
            partitions[at], offsets[at] = self._partitions.number(partition), offset
        return partitions, offsets

    def _take_answers(self, batch: pa.RecordBatch, outcome: Outcome) -> None:
        numbers, why = integers(batch.column("value")), batch.column("why")
        self._answers.add(
            number=numbers,
            partition=translated(batch.column("subject"), self._partitions.number),
            outcome=np.full(len(batch), int(outcome), np.int8),
            offset=integers(batch.column("offset")),
            answered_us=integers(batch.column("at_us")),
        )
        given = why.drop_null().to_pylist()
        self._reasons.update(zip(numbers[valid(why)].tolist(), given, strict=True))

    def _take_runs(self, batch: pa.RecordBatch) -> None:
        values = batch.column("values")
        self._runs.add(
            process=translated(batch.column("process"), self._processes.number),
            sequence=integers(batch.column("sequence")),
            at_us=integers(batch.column("at_us")),
            partition=translated(batch.column("subject"), self._partitions.number),
            offset=integers(batch.column("offset")),
            count=integers(values.value_lengths().cast(pa.int64()), 0),
            values=integers(values.flatten()),
        )

    def clients(self) -> Clients:
        told = Told()
        told.take(self._rows)
        return Clients(
            self._processes,
            self._partitions,
            self._keys,
            self._sends(told.begun),
            self._polls(told.assignments),
            told.transactions,
            told.assignments,
            told.kept[Kind.REVOKED],
            list(told.commits.values()),
            told.kept[Kind.OBSERVED],
            [row for kind in FAULTS for row in told.kept[kind]],
            told.told,
            told.began_us,
            frozenset(told.ended),
            self._reasons,
        )

    def _sends(self, begun: Mapping[tuple[str, int], int]) -> Sends:
        """Every send with its transaction and its answer."""
        number, partition = self._asked.joined("number"), self._asked.joined("partition")
        order = np.lexsort((number, partition))
        columns = {name: self._asked.joined(name)[order] for name in _OF_SENDS}
        sends = Sends(
            bounds=bounds_of(partition[order], len(self._partitions)),
            number=number[order],
            partition=partition[order],
            transaction=self._transactions(
                begun, columns["process"], self._asked.joined("begun")[order]
            ),
            outcome=np.full(len(order), int(Outcome.UNKNOWN), np.int8),
            offset=np.full(len(order), NONE, np.int64),
            answered_us=np.full(len(order), NONE, np.int64),
            **columns,
        )
        self._answer(sends)
        return sends

    def _transactions(
        self, begun: Mapping[tuple[str, int], int], processes: Numbers, sequences: Column
    ) -> Numbers:
        """In which transaction each was sent, by what it names as its beginning."""
        found = np.full(len(sequences), NONE, np.int32)
        inside = np.flatnonzero(sequences != NONE)
        marks = [(sequence, self._processes.known(name)) for name, sequence in begun]
        at = last_before(columns_of(marks, 2), (sequences[inside], processes[inside]))
        indices = np.array([*begun.values(), NONE], np.int32)
        exact = np.array([*(sequence for sequence, _ in marks), NONE])[at] == sequences[inside]
        found[inside] = np.where(exact, indices[at], NONE)
        return found

    def _answer(self, sends: Sends) -> None:
        answers = self._answers
        number, partition = answers.joined("number"), answers.joined("partition")
        order = np.lexsort((number, partition))
        told = {name: answers.joined(name) for name in ("outcome", "offset", "answered_us")}
        bounds = bounds_of(partition[order], len(self._partitions))
        for index, (begin, end) in enumerate(pairwise(bounds.tolist())):
            mine = order[begin:end]
            at = sends.find(index, number[mine])
            for name, column in told.items():
                getattr(sends, name)[at[at >= 0]] = column[mine[at >= 0]]

    def _polls(self, assignments: Sequence[Row]) -> Polls:
        runs = self._runs
        process, sequence, count = (runs.joined(name) for name in ("process", "sequence", "count"))
        order = np.lexsort((sequence, process))
        order = order[count[order] > 0]
        partition = runs.joined("partition")[order]
        marks = [
            (row.sequence, self._partitions.known(row.subject), self._processes.known(row.process))
            for row in assignments
        ]
        asked = sequence[order], partition, process[order]
        return Polls(
            process=process[order],
            at_us=runs.joined("at_us")[order],
            partition=partition,
            offset=runs.joined("offset")[order],
            count=count[order],
            begin=(np.cumsum(count) - count)[order],
            assignment=last_before(columns_of(marks, 3), asked),
            values=runs.joined("values"),
        )


_NUMBERS_OF_KINDS = {
    **{kind: number for number, kind in enumerate(_IN_COLUMNS)},
    **dict.fromkeys(TAKERS, _AS_ROWS),
}
_TOMBSTONE = json.dumps("tombstone")
_OF_SENDS = (
    "process",
    "sequence",
    "asked_us",
    "key",
    "source",
    "source_offset",
    "is_tombstone",
)


def _number_of_kind(kind: str) -> int:
    """NONE for a kind that tells nothing here."""
    return _NUMBERS_OF_KINDS.get(kind, NONE)
