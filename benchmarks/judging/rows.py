"""The rows of a plan's run, by time: sends and their answers as columns, all others one by one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.judging.plan import (
    BROKERS,
    ENDED,
    FINAL_READER,
    HARNESS,
    IN_A_BATCH,
    IN_A_TRANSACTION,
    LENGTH,
    MEMBERS,
    MOVED,
    MOVED_END,
    MOVER,
    OF_PRODUCER,
    PLAIN,
    PRODUCERS,
    TRANSACTOR,
    Plan,
)
from logquake.chaos.evidence.clients import Column
from logquake.chaos.history.numbers import number_at
from logquake.chaos.history.parquet import ROWS_OF_A_GROUP, SCHEMA, batch_of, write_columns
from logquake.chaos.history.rows import Kind, Row

_READERS, _MOVERS = "readers", "movers"
_KEYS = pa.array([f"key-{number}" for number in range(64)])
_OUTCOMES, _REASONS = pa.array([Kind.ACKED, Kind.UNKNOWN]), pa.array([None, "_TIMED_OUT"])
_RUN = 96  # records that are polled at once


class _Sender(NamedTuple):
    """``records`` to each partition in each stretch, between two moments of it."""

    name: str
    ordinal: int
    records: int
    begins_us: int
    span_us: int
    begins: int  # offset within the stretch
    is_transactional: bool = False

    def rows_before(self, plan: Plan, stretch: int) -> int:
        """Of the process, its first one included: so they are numbered."""
        others = 3 + plan.partitions if self.is_transactional else 0
        return 1 + stretch * (2 * self.records * plan.partitions + others)

    def within(self, place: Column) -> Column:
        """Where in the stretch each of its records is."""
        if self.is_transactional:
            return self.begins + place
        turn, place = np.divmod(place, IN_A_BATCH)
        return self.begins + IN_A_BATCH * len(PRODUCERS) * turn + place


_PRODUCERS = tuple(
    _Sender(name, ordinal, OF_PRODUCER, 0, 600_000, ordinal * IN_A_BATCH)
    for ordinal, name in enumerate(PRODUCERS)
)
_MOVER = _Sender(MOVER, len(PRODUCERS), IN_A_TRANSACTION, 700_000, 50_000, MOVED, True)
_TRANSACTOR = _Sender(
    TRANSACTOR, len(PRODUCERS) + 1, IN_A_TRANSACTION, 760_000, 50_000, ENDED, True
)
_SENDERS = (*_PRODUCERS, _MOVER, _TRANSACTOR)
_ASKED_US, _READ_US, _LOOKED_US = 850_000, 930_000, 960_000


def write_history(plan: Plan, path: Path) -> int:
    """How many rows it has. One stretch of the run is in memory."""
    return write_columns(_History(plan).batches(), path)


class _History:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._names = pa.array(plan.names)
        self._random = np.random.default_rng(plan.seed)
        self._counts: Counter[str] = Counter()
        # Of each partition's records in the first stretch; and by how much they rise to the next.
        within = np.arange(LENGTH)
        self._numbers = [plan.numbers(partition, within) for partition in range(plan.partitions)]
        self._steps = plan.numbers(0, LENGTH + within) - self._numbers[0]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """By time, each of as many rows as ``write_parquet`` gives a group."""
        tables: list[pa.Table] = []
        for table in self._tables():
            tables.append(table)
            if sum(map(len, tables)) >= ROWS_OF_A_GROUP:
                yield from pa.concat_tables(tables).combine_chunks().to_batches()
                tables.clear()
        yield from pa.concat_tables(tables).combine_chunks().to_batches()

    def _tables(self) -> Iterator[pa.Table]:
        yield _table(list(self._beginning()))
        for stretch in range(self._plan.stretches):
            sent = [self._sent(sender, stretch) for sender in _SENDERS]
            others = batch_of(list(self._others(stretch)))
            yield pa.Table.from_batches([*sent, others]).sort_by("at_us")
        yield from map(_table, self._end())

    def _row(self, at_us: int, process: str, what: str, subject: str, **fields: Any) -> Row:
        self._counts[process] += 1
        return Row(at_us, process, self._counts[process], what, subject, **fields)

    def _beginning(self) -> Iterator[Row]:
        at_us = self._plan.begins_us(0) - 1_000
        writing = {"acks": "all", "idempotent": True}
        told: dict[str, dict[str, Any]] = {
            **{name: {"kind": "idempotent", **writing} for name in PRODUCERS},
            MOVER: {"kind": "mover", "transactional_id": MOVER, **writing},
            TRANSACTOR: {"kind": "transactional", "transactional_id": TRANSACTOR, **writing},
            **{name: {"kind": "member", "isolation": "read_committed"} for name in MEMBERS},
        }
        for name, after in told.items():
            yield self._row(at_us, name, Kind.BEGAN, name, after=after)

    def _sent(self, sender: _Sender, stretch: int) -> pa.RecordBatch:
        """Sends, then their answers: each comes before the process sends again."""
        plan, size = self._plan, sender.records * self._plan.partitions
        index = np.arange(size)
        place, partition = np.divmod(index, plan.partitions)
        interval_us = sender.span_us // size
        asked_us = plan.begins_us(stretch) + sender.begins_us + index * interval_us
        latency_us = interval_us // 4 + self._random.integers(0, interval_us // 2 + 1, size)
        first = sender.rows_before(plan, stretch) + 1
        begun = pa.scalar(first if sender.is_transactional else None, pa.int64())
        asked = first + sender.is_transactional + 2 * index
        # The first of all is never heard of again, though it is there.
        is_unknown = (index == 0) & (stretch == 0)
        offsets = stretch * LENGTH + sender.within(place)
        keys = self._random.integers(0, len(_KEYS), size)
        columns = {
            "at_us": np.concatenate((asked_us, asked_us + latency_us)),
            "process": pa.repeat(sender.name, 2 * size),
            "sequence": np.concatenate((asked, asked + 1)),
            "what": _both(pa.repeat(str(Kind.SEND), size), _taken(_OUTCOMES, is_unknown)),
            "subject": _twice(_taken(self._names, partition)),
            "offset": _both(pa.nulls(size, pa.int64()), pa.array(offsets, mask=is_unknown)),
            "value": np.tile(number_at(sender.ordinal, stretch * size) + index, 2),
            "key": _twice(_taken(_KEYS, keys)),
            "before": _both(
                self._sources(sender, stretch, place, partition), pa.nulls(size, pa.string())
            ),
            "why": _both(pa.nulls(size, pa.string()), _taken(_REASONS, is_unknown)),
            "caused_by": _both(pa.repeat(begun, size), pa.array(asked)),
        }
        return pa.record_batch(
            [columns.get(each.name, pa.nulls(2 * size, each.type)) for each in SCHEMA],
            schema=SCHEMA,
        )

    def _sources(
        self, sender: _Sender, stretch: int, places: Column, partitions: Column
    ) -> pa.Array:
        """Of what the mover makes its records: of those that came a stretch before."""
        if sender is not _MOVER or not stretch:
            return pa.nulls(len(places), pa.string())
        plan = self._plan
        offsets = (stretch - 1) * LENGTH + places
        sources = (partitions + 1) % plan.partitions
        told = zip(map(plan.name, sources.tolist()), offsets.tolist(), strict=True)
        return pa.array([json.dumps(source) for source in told], pa.string())

    def _others(self, stretch: int) -> Iterator[Row]:
        plan, begins_us = self._plan, self._plan.begins_us(stretch)
        if plan.rebalances(stretch):
            yield from self._rebalance(stretch)
        if plan.has_fault(stretch):
            yield from self._fault(begins_us)
        yield from self._transaction(_MOVER, stretch)
        yield from self._transaction(_TRANSACTOR, stretch)
        generation = plan.generation(stretch)
        for partition in range(plan.partitions):
            member = plan.owner(partition, generation)
            yield from self._read(member, partition, stretch, begins_us + _READ_US)
            yield from self._commit(member, partition, stretch)
            yield self._look(partition, stretch)

    def _rebalance(self, stretch: int) -> Iterator[Row]:
        """Whoever holds a partition gives it back, and another takes up where that one was."""
        plan, at_us = self._plan, self._plan.begins_us(stretch)
        generation = plan.generation(stretch)
        for partition, subject in enumerate(plan.names if stretch else ()):
            before = plan.owner(partition, generation - 1)
            told = {"group": _READERS, "epoch": generation - 1, "after": "revoked"}
            yield self._row(at_us, before, Kind.REVOKED, subject, **told)
        for partition, subject in enumerate(plan.names):
            owner = plan.owner(partition, generation)
            told = {"group": _READERS, "epoch": generation, "offset": stretch * LENGTH}
            yield self._row(at_us + 1, owner, Kind.ASSIGNED, subject, **told)

    def _fault(self, begins_us: int) -> Iterator[Row]:
        subject, after = f"broker-{BROKERS[0]}", {"kind": "pause"}
        begun = self._row(begins_us + 100_000, HARNESS, Kind.FAULT_BEGUN, subject, after=after)
        yield begun
        ended_us = begins_us + 500_000
        yield self._row(ended_us, HARNESS, Kind.FAULT_ENDED, subject, caused_by=begun.sequence)

    def _transaction(self, sender: _Sender, stretch: int) -> Iterator[Row]:
        """All of its rows but the sends; of the mover's, the offsets up to which it has moved."""
        plan, name = self._plan, sender.name
        begins_us = plan.begins_us(stretch)
        first = sender.rows_before(plan, stretch) + 1
        sent = first + 2 * sender.records * plan.partitions
        yield Row(begins_us + sender.begins_us - 1, name, first, Kind.TRANSACTION_BEGUN, name)
        if sender is _MOVER and stretch:
            upto = (stretch - 1) * LENGTH + IN_A_TRANSACTION
            told: dict[str, Any] = {"group": _MOVERS, "offset": upto, "caused_by": first}
            for partition, subject in enumerate(plan.names, 1):
                at_us = begins_us + _ASKED_US - plan.partitions + partition - 1
                yield Row(at_us, name, sent + partition, Kind.COMMIT_ASKED, subject, **told)
        aborts = sender is _TRANSACTOR and plan.aborts(stretch)
        asked, outcome = ("abort", "aborted") if aborts else ("commit", "committed")
        for at, (what, after) in enumerate(
            ((Kind.TRANSACTION_ENDING, asked), (Kind.TRANSACTION_ENDED, outcome)), 1
        ):
            sequence, at_us = sent + plan.partitions + at, begins_us + _ASKED_US + at
            yield Row(at_us, name, sequence, what, name, after=after, caused_by=first)

    def _read(
        self, reader: str, partition: int, stretch: int, at_us: int, lost: int = -1
    ) -> Iterator[Row]:
        """Runs of what a reader of committed records sees; a run ends before what is lost."""
        plan = self._plan
        group, subject = _READERS if reader in MEMBERS else None, plan.name(partition)
        first = stretch * LENGTH
        numbers = self._numbers[partition] + stretch * self._steps
        for begin, end in self._runs(stretch, lost):
            values = numbers[begin - first : end - first]
            told = {"group": group, "offset": begin, "epoch": plan.epoch(stretch)}
            yield self._row(at_us, reader, Kind.POLLED, subject, values=values, **told)

    def _runs(self, stretch: int, lost: int) -> Iterator[tuple[int, int]]:
        bounds = [(begin, begin + _RUN) for begin in range(0, PLAIN, _RUN)]
        bounds.append((MOVED, MOVED_END))
        if not self._plan.aborts(stretch):
            bounds.append((ENDED, ENDED + IN_A_TRANSACTION))
        for begin, end in bounds:
            begin, end = stretch * LENGTH + begin, stretch * LENGTH + end
            if begin <= lost < end:
                yield begin, lost
                begin = lost + 1
            yield begin, end

    def _commit(self, member: str, partition: int, stretch: int) -> Iterator[Row]:
        plan, subject = self._plan, self._plan.name(partition)
        at_us = plan.begins_us(stretch) + _READ_US
        told = {"group": _READERS, "offset": (stretch + 1) * LENGTH}
        generation = plan.generation(stretch)
        asked = self._row(at_us, member, Kind.COMMIT_ASKED, subject, epoch=generation, **told)
        yield asked
        told |= {"after": "kept", "caused_by": asked.sequence}
        yield self._row(at_us, member, Kind.COMMIT_ANSWERED, subject, **told)

    def _look(self, partition: int, stretch: int) -> Row:
        plan, end = self._plan, (stretch + 1) * LENGTH
        after = {
            "leader": plan.leader(partition, stretch),
            "isr": list(BROKERS),
            "replicas": list(BROKERS),
            "log_start": 0,
            "last_stable": end,
            "log_ends": {str(broker): end for broker in BROKERS},
        }
        at_us, epoch = plan.begins_us(stretch) + _LOOKED_US, plan.epoch(stretch)
        subject = plan.name(partition)
        return self._row(
            at_us, HARNESS, Kind.OBSERVED, subject, epoch=epoch, offset=end, after=after
        )

    def _end(self) -> Iterator[list[Row]]:
        """Somebody reads all that is left, and then all end."""
        plan, at_us = self._plan, self._plan.end_us + 1_000
        told = {"kind": "reader", "isolation": "read_committed"}
        yield [
            self._row(at_us, FINAL_READER, Kind.BEGAN, FINAL_READER, after=told),
            *(self._row(at_us, FINAL_READER, Kind.ASSIGNED, each, offset=0) for each in plan.names),
        ]
        for stretch in range(plan.stretches):
            yield [
                row
                for partition in range(plan.partitions)
                for row in self._read(
                    FINAL_READER, partition, stretch, at_us, self._lost(partition)
                )
            ]
        senders = {each.name: each.rows_before(plan, plan.stretches) for each in _SENDERS}
        self._counts = Counter({**self._counts, **senders})
        yield [
            self._row(at_us + 1, name, Kind.ENDED, name)
            for name in (*senders, *MEMBERS, FINAL_READER)
        ]

    def _lost(self, partition: int) -> int:
        loss = self._plan.loss
        return loss.offset if partition == loss.partition else -1


def _table(rows: list[Row]) -> pa.Table:
    return pa.Table.from_batches([batch_of(rows)])


def _taken(texts: pa.Array, places: Column) -> pa.Array:
    return texts.take(pa.array(places.astype(np.int64)))


def _both(one: pa.Array, other: pa.Array) -> pa.Array:
    return pa.concat_arrays([one, other])


def _twice(one: pa.Array) -> pa.Array:
    return _both(one, one)
