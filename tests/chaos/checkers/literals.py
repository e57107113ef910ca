"""Runs written down by hand: rows, replicas' logs, ZooKeeper's writes, journals. Times are ms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from logquake.chaos.checkers.case import Case
from logquake.chaos.checkers.demands import Demands
from logquake.chaos.checkers.verdicts import Judgement, Violation
from logquake.chaos.evidence.evidence import Evidence
from logquake.chaos.evidence.stored import BATCH, NO_MARKER, StoredLog
from logquake.chaos.history.rows import Kind, Row
from logquake.wire.records import BatchFlag, ControlType
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.applied import Applied
from logquake.zk.operations import Create, Delete, SetData, Write
from logquake.zk.znodes.control import ControllerEpoch
from logquake.zk.znodes.topics import PartitionState, TopicAssignment

P = "orders-0"
_P = TopicPartition("orders", 0)
PRODUCER, READER = "producer-1", "reader-2"
NO_PRODUCER = (-1, -1, -1)


class Batch(NamedTuple):
    first: int
    values: tuple[int, ...]
    epoch: int = 0
    producer: tuple[int, int, int] = NO_PRODUCER  # id, epoch, sequence
    transactional: bool = False
    marker: int = NO_MARKER


def marker(first: int, kind: ControlType, producer: tuple[int, int], epoch: int = 0) -> Batch:
    return Batch(first, (0,), epoch, (*producer, -1), transactional=True, marker=int(kind))


def log(
    broker: int,
    *batches: Batch,
    start: int = 0,
    epochs: Sequence[tuple[int, int]] | None = None,
    damage: str | None = None,
) -> StoredLog:
    entries = [_entry(batch) for batch in batches]
    records = [
        (batch.first + n, value)
        for batch in batches
        if batch.marker == NO_MARKER
        for n, value in enumerate(batch.values)
    ]
    if epochs is None:
        firsts: dict[int, int] = {}
        for batch in batches:
            firsts.setdefault(batch.epoch, max(batch.first, start))
        epochs = list(firsts.items())
    offsets, values = (np.array([r[i] for r in records], np.int64) for i in (0, 1))
    return StoredLog(broker, start, np.array(entries, BATCH), offsets, values, epochs, damage)


def _entry(batch: Batch) -> tuple[int, ...]:
    producer_id, producer_epoch, sequence = batch.producer
    attributes = int(BatchFlag.TRANSACTIONAL) * batch.transactional
    attributes |= int(BatchFlag.CONTROL) * (batch.marker != NO_MARKER)
    return (
        batch.first,
        batch.first + len(batch.values),
        producer_id,
        batch.epoch,
        61 + len(batch.values),
        crc32(repr((batch.values, batch.producer, batch.marker)).encode()),
        sequence,
        producer_epoch,
        attributes,
        batch.marker,
    )


def state(
    leader: int, epoch: int, isr: Sequence[int], *, controller: int = 1, recovering: bool = False
) -> PartitionState:
    return PartitionState(leader, epoch, tuple(isr), controller, int(recovering))


ALL = state(1, 0, (1, 2))


@dataclass
class Run:
    """What is written down is in the order of time, if it is told so."""

    rows: list[Row]
    journals: list[Row]
    applied: list[Applied]
    logs: dict[str, dict[int, StoredLog]]

    @classmethod
    def empty(cls) -> Run:
        return cls([], [], [], {})

    def __post_init__(self) -> None:
        self._sequences: Counter[str] = Counter()
        self._state_versions = -1

    # rows

    def row(self, at_ms: int, process: str, what: str, subject: str, **fields: Any) -> int:
        self._sequences[process] += 1
        sequence = self._sequences[process]
        self.rows.append(Row(at_ms * 1000, process, sequence, what, subject, **fields))
        return sequence

    def begin(self, process: str, at_ms: int = 0, **told: Any) -> None:
        self.row(at_ms, process, Kind.BEGAN, process, after=told)

    def producer(self, name: str = PRODUCER, acks: str = "all", *, idempotent: bool = True) -> None:
        self.begin(name, acks=acks, idempotent=idempotent, kind="idempotent")

    def reader(
        self, at_ms: int, *values: int, first: int = 0, isolation: str = "read_uncommitted"
    ) -> None:
        """A reader of the whole partition, from ``at_ms`` on."""
        self.begin(READER, at_ms, kind="reader", isolation=isolation)
        self.row(at_ms, READER, Kind.ASSIGNED, P, offset=first)
        self.poll(at_ms, first, *values)
        self.row(at_ms, READER, Kind.ENDED, READER)

    def poll(self, at_ms: int, first: int, *values: int, process: str = READER) -> None:
        self.row(at_ms, process, Kind.POLLED, P, offset=first, values=values, epoch=0)

    def send(self, at_ms: int, number: int, process: str = PRODUCER, **fields: Any) -> int:
        return self.row(at_ms, process, Kind.SEND, fields.pop("subject", P), value=number, **fields)

    def acked(self, at_ms: int, number: int, offset: int, process: str = PRODUCER) -> None:
        """Sent a millisecond before."""
        sent = self.send(at_ms - 1, number, process)
        self.answer(at_ms, Kind.ACKED, number, process, offset=offset, caused_by=sent)

    def answer(
        self, at_ms: int, kind: Kind, number: int, process: str = PRODUCER, **fields: Any
    ) -> None:
        self.row(at_ms, process, kind, fields.pop("subject", P), value=number, **fields)

    def transaction(
        self,
        at_ms: int,
        numbers: dict[int, int],
        asked: str | None = "commit",
        outcome: str | None = "committed",
    ) -> None:
        """It begins, sends (number: offset), and ends, within 3 ms."""
        begun = self.row(at_ms, PRODUCER, Kind.TRANSACTION_BEGUN, "tx")
        for number, offset in numbers.items():
            self.send(at_ms, number, caused_by=begun)
            self.answer(at_ms + 1, Kind.ACKED, number, offset=offset)
        if asked is not None:
            self.row(
                at_ms + 2, PRODUCER, Kind.TRANSACTION_ENDING, "tx", after=asked, caused_by=begun
            )
        if outcome is not None:
            self.row(
                at_ms + 3, PRODUCER, Kind.TRANSACTION_ENDED, "tx", after=outcome, caused_by=begun
            )

    def look(self, at_ms: int, high_watermark: int, epoch: int = 0, **after: Any) -> None:
        self.row(
            at_ms, "harness", Kind.OBSERVED, P, epoch=epoch, offset=high_watermark, after=after
        )

    # brokers and ZooKeeper

    def event(self, at_ms: int, broker: int, what: str, subject: str = P, **fields: Any) -> None:
        name = f"broker-{broker}"
        self._sequences[name] += 1
        self.journals.append(
            Row(at_ms * 1000, name, self._sequences[name], what, subject, **fields)
        )

    def write(self, at_ms: int, *writes: Write, session: int = 1) -> None:
        self.applied.append(Applied(len(self.applied) + 1, session, writes, at_ms=at_ms))

    def topic(self, *replicas: int, at_ms: int = 0, **config: str) -> None:
        if config:
            entity = ",".join(f'"{k.replace("_", ".")}":"{v}"' for k, v in config.items())
            data = f'{{"version":1,"config":{{{entity}}}}}'.encode()
            self.write(at_ms, Create("/config/topics/orders", data))
        assignment = TopicAssignment(None, {0: replicas or (1, 2)})
        self.write(at_ms, Create(TopicAssignment.path("orders"), assignment.encode()))

    def state(self, at_ms: int, new: PartitionState, version: int | None = None) -> None:
        """Over the version before, unless another is told."""
        path, data = PartitionState.path(*_P), new.encode()
        expected = self._state_versions if version is None else version
        first = self._state_versions < 0
        self.write(at_ms, Create(path, data) if first else SetData(path, data, expected))
        self._state_versions += 1

    def registered(self, at_ms: int, *brokers: int) -> None:
        for broker in brokers:
            self.write(at_ms, Create(f"/brokers/ids/{broker}", b"{}", ephemeral=True))

    def gone(self, at_ms: int, broker: int) -> None:
        self.write(at_ms, Delete(f"/brokers/ids/{broker}"))

    def controller(self, at_ms: int, epoch: int, session: int = 1) -> None:
        path, data = ControllerEpoch.path(), ControllerEpoch(epoch).encode()
        self.write(at_ms, SetData(path, data, epoch - 2), session=session)

    def keep(self, *logs: StoredLog, partition: str = P) -> None:
        self.logs[partition] = {each.broker: each for each in logs}

    # judging

    def evidence(self, **settings: Any) -> Evidence:
        evidence = Evidence(self.rows, self.journals, self.logs, self.applied)
        return replace(evidence, **settings)

    def case(self, demands: Demands | None = None, **settings: Any) -> Case:
        return Case(self.evidence(**settings), demands or Demands())


def cluster() -> Run:
    """Two brokers, one partition on both, led by broker 1."""
    run = Run.empty()
    run.registered(0, 1, 2)
    run.controller(0, 1)
    run.topic()
    run.state(0, ALL)
    run.producer()
    return run


Check = Callable[[Case], Iterator[Violation]]


def told(check: Check, run: Run, **settings: Any) -> list[str]:
    """What is wrong, in words."""
    return [violation.text for violation in check(run.case(**settings))]


def rulings_of(judgement: Judgement) -> list[tuple[object, ...]]:
    """What each says, violations in no order: shares come in another."""
    return [
        (each.invariant, each.verdict, each.why, {(v.text, v.chain) for v in each.violations})
        for each in judgement.rulings
    ]
