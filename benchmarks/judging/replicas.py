"""What the brokers and ZooKeeper of a plan's run would have left behind: three replicas of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from zlib import crc32

import numpy as np

from benchmarks.judging.plan import (
    BATCHES,
    BEGAN_US,
    BROKERS,
    ENDED,
    IN_A_BATCH,
    IN_A_TRANSACTION,
    LENGTH,
    MOVED,
    OF_PRODUCER,
    PRODUCERS,
    Plan,
)
from logquake.chaos.evidence.clients import Share
from logquake.chaos.evidence.evidence import Evidence
from logquake.chaos.evidence.stored import BATCH, NO_MARKER, Column, StoredLog
from logquake.chaos.history.rows import Row
from logquake.wire.records import BatchFlag, ControlType
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.applied import Applied
from logquake.zk.operations import Create, SetData, Write
from logquake.zk.znodes.control import ControllerEpoch
from logquake.zk.znodes.topics import PartitionState, TopicAssignment

_TRANSACTIONAL = int(BatchFlag.TRANSACTIONAL)
_SHRUNK_MS = 400  # so long is the former leader out of the ISR


def evidence(plan: Plan) -> Evidence:
    """All but the clients' rows and the logs."""
    return Evidence(journals=list(_journals(plan)), applied=list(_applied(plan)))


def logs(plan: Plan, share: Share | None) -> Mapping[str, Mapping[int, StoredLog]]:
    """Of the loss there is no trace: no replica has that record."""
    found = {}
    for partition, name in enumerate(plan.names):
        if share is None or name in share:
            batches, offsets = _batches(plan), _offsets(plan)
            if partition == plan.loss.partition:
                offsets = offsets[offsets != plan.loss.offset]
            values = plan.numbers(partition, offsets)
            epochs = [
                (plan.epoch(stretch), stretch * LENGTH)
                for stretch in range(plan.stretches)
                if not stretch or plan.elects(stretch)
            ]
            found[name] = {
                broker: StoredLog(broker, 0, batches, offsets, values, epochs) for broker in BROKERS
            }
    return found


def _offsets(plan: Plan) -> Column:
    within = plan.offsets(0)
    found: Column = (np.arange(plan.stretches)[:, None] * LENGTH + within).ravel()
    return found


def _batches(plan: Plan) -> np.ndarray:
    """Of any partition: all are alike."""
    of_stretch = np.array([*_plain(), *_in_transactions()], BATCH)
    batches = np.tile(of_stretch, plan.stretches)
    stretch = np.repeat(np.arange(plan.stretches), len(of_stretch))
    batches["first"] += stretch * LENGTH
    batches["next"] += stretch * LENGTH
    batches["epoch"] = [plan.epoch(each) for each in stretch.tolist()]
    batches["crc"] += stretch
    is_data = batches["marker"] == NO_MARKER
    size = np.where(batches["producer_id"] < len(PRODUCERS), OF_PRODUCER, IN_A_TRANSACTION)
    batches["sequence"] += np.where(is_data, stretch * size, 0)
    aborts = [plan.aborts(each) for each in range(plan.stretches)]
    batches["marker"][len(of_stretch) - 1 :: len(of_stretch)] = np.where(
        aborts, ControlType.ABORT, ControlType.COMMIT
    )
    return batches


def _plain() -> Iterator[tuple[int, ...]]:
    for batch in range(BATCHES * len(PRODUCERS)):
        turn, producer = divmod(batch, len(PRODUCERS))
        first = batch * IN_A_BATCH
        yield _batch(first, first + IN_A_BATCH, producer, turn * IN_A_BATCH, 0)


def _in_transactions() -> Iterator[tuple[int, ...]]:
    for producer, first in enumerate((MOVED, ENDED), len(PRODUCERS)):
        end = first + IN_A_TRANSACTION
        yield _batch(first, end, producer, 0, _TRANSACTIONAL)
        flags = _TRANSACTIONAL | int(BatchFlag.CONTROL)
        yield _batch(end, end + 1, producer, -1, flags, int(ControlType.COMMIT))


def _batch(
    first: int, end: int, producer: int, sequence: int, attributes: int, marker: int = NO_MARKER
) -> tuple[int, ...]:
    """In the order of BATCH."""
    size = 61 + 20 * (end - first)
    crc = crc32(bytes((first, producer)))
    return first, end, producer, 0, size, crc, sequence, 0, attributes, marker


def _applied(plan: Plan) -> Iterator[Applied]:
    for zxid, (at_ms, write) in enumerate(_writes(plan), 1):
        yield Applied(zxid, 1, (write,), at_ms=at_ms)


def _writes(plan: Plan) -> Iterator[tuple[int, Write]]:
    """Who leads changes with the epoch; the one before is out of the ISR for a while."""
    at_ms = BEGAN_US // 1000 - 1
    for broker in BROKERS:
        yield at_ms, Create(f"/brokers/ids/{broker}", b"{}", ephemeral=True)
    yield at_ms, SetData(ControllerEpoch.path(), ControllerEpoch(1).encode(), 0)
    assignment = TopicAssignment(None, dict.fromkeys(range(plan.partitions), BROKERS))
    yield at_ms, Create(TopicAssignment.path("orders"), assignment.encode())
    for partition in range(plan.partitions):
        yield at_ms, Create(*_state(plan, partition, 0, BROKERS))
    version = 0
    for stretch in filter(plan.elects, range(plan.stretches)):
        at_ms = plan.begins_us(stretch) // 1000
        for partition in range(plan.partitions):
            former = plan.leader(partition, stretch - 1)
            rest = tuple(broker for broker in BROKERS if broker != former)
            yield at_ms, SetData(*_state(plan, partition, stretch, rest), version)
        for partition in range(plan.partitions):
            whole = _state(plan, partition, stretch, BROKERS)
            yield at_ms + _SHRUNK_MS, SetData(*whole, version + 1)
        version += 2


def _state(plan: Plan, partition: int, stretch: int, isr: tuple[int, ...]) -> tuple[str, bytes]:
    leader, epoch = plan.leader(partition, stretch), plan.epoch(stretch)
    path = PartitionState.path(*TopicPartition("orders", partition))
    return path, PartitionState(leader, epoch, isr, 1, 0).encode()


def _journals(plan: Plan) -> Iterator[Row]:
    sequence = 0
    for stretch in range(plan.stretches):
        for partition in range(plan.partitions if not stretch or plan.elects(stretch) else 0):
            sequence += 1
            yield Row(
                plan.begins_us(stretch),
                f"broker-{plan.leader(partition, stretch)}",
                sequence,
                "role-changed",
                plan.name(partition),
                epoch=plan.epoch(stretch),
                after="leader",
            )
