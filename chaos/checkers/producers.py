"""What idempotent producers are promised: once, and in order (KIP-98)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from logquake.chaos.checkers.case import Case
from logquake.chaos.checkers.sequences import Due, after_batch, after_marker, due
from logquake.chaos.checkers.verdicts import Violation
from logquake.chaos.evidence.stored import StoredLog


def idempotence(case: Case) -> Iterator[Violation]:
    """v at one offset at most; (producer id, epoch, sequence) contiguous modulo 2^31.

    A broker knows a repeated batch by its producer id, epoch and sequence, and promises nothing
    beyond one epoch: librdkafka gives its producer a new one after a gap, and sends again under it
    whatever it has no ack for (rd_kafka_idemp_drain_epoch_bump). Such copies are the client's.
    """
    for partition, log in case.references():
        yield from _copies(case, partition, log)
        if not case.is_compacted(partition) and log.start == 0:
            yield from _gaps(case, partition, log)


def _copies(case: Case, partition: str, log: StoredLog) -> Iterator[Violation]:
    order = np.argsort(log.values, kind="stable")
    values = log.values[order]
    again = np.flatnonzero((np.diff(values) == 0) & (values[1:] >= 0))
    if not len(again):
        return
    batches = log.batches[log.batches_of(log.offsets[order])]
    one, other = batches[again], batches[again + 1]
    wrong = (
        (one["producer_id"] >= 0)
        & (one["producer_id"] == other["producer_id"])
        & (one["producer_epoch"] == other["producer_epoch"])
    )
    if wrong.any():
        at = int(again[np.flatnonzero(wrong)[0]])
        text = (
            f"number {values[at]} is at offsets {log.offsets[order[at]]} and "
            f"{log.offsets[order[at + 1]]} of {partition}, of one producer epoch; so are "
            f"{int(wrong.sum())} in all"
        )
        yield case.violation("idempotence", text, partition)


def _gaps(case: Case, partition: str, log: StoredLog) -> Iterator[Violation]:
    known: dict[int, Due] = {}
    columns = ("producer_id", "producer_epoch", "sequence", "first", "next")
    batches = log.batches
    mine = batches["producer_id"] >= 0
    rows = zip(*(batches[name][mine].tolist() for name in columns), strict=True)
    for (producer, epoch, sequence, first, end), control in zip(
        rows, log.is_control[mine].tolist(), strict=True
    ):
        if control:
            known[producer] = after_marker(known.get(producer), epoch)
            continue
        expected = due(known.get(producer), epoch, sequence)
        if expected != (epoch, sequence) and epoch >= expected[0]:
            text = (
                f"offset {first} of {partition} has sequence {sequence} of epoch {epoch} of "
                f"producer {producer}: {expected[1]} was to follow"
            )
            yield case.violation("idempotence", text, partition)
        known[producer] = after_batch(epoch, sequence, end - first)


def send_order(case: Case) -> Iterator[Violation]:
    """An idempotent producer's ok offsets follow its send order, partition by partition."""
    sends = case.clients.sends
    told = case.producers("idempotent", True)
    if not len(told):
        return
    for partition, at in case.by_partition(case.is_promised & told[sends.process]):
        order = at[np.lexsort((sends.sequence[at], sends.process[at]))]
        process, offset = sends.process[order], sends.offset[order]
        wrong = (np.diff(process) == 0) & (np.diff(offset) <= 0)
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            yield _out_of_order(case, partition, order[first], order[first + 1], int(wrong.sum()))


def _out_of_order(case: Case, partition: str, one: Any, other: Any, count: int) -> Violation:
    sends = case.clients.sends
    text = (
        f"{case.clients.processes[int(sends.process[one])]} sent number {sends.number[one]} before "
        f"{sends.number[other]} to {partition}; they were acked at offsets {sends.offset[one]} and "
        f"{sends.offset[other]}; so were {count} in all"
    )
    return case.violation("send order", text, partition, int(sends.asked_us[one]))


def stale_producers(case: Case, invariant: str) -> Iterator[Violation]:
    """An epoch of a producer's after a later one."""
    for partition, log in case.references():
        batches = log.batches[log.batches["producer_id"] >= 0]
        order = np.argsort(batches["producer_id"], kind="stable")
        producer = batches["producer_id"][order]
        epoch = batches["producer_epoch"][order]
        wrong = (np.diff(producer) == 0) & (np.diff(epoch.astype(np.int64)) < 0)
        if wrong.any():
            at = int(order[int(np.flatnonzero(wrong)[0]) + 1])
            text = (
                f"offset {batches['first'][at]} of {partition} is of epoch "
                f"{batches['producer_epoch'][at]} of producer {batches['producer_id'][at]}, after "
                "a batch of a later one"
            )
            yield case.violation(invariant, text, partition)
