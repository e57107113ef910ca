"""Which acks no leader may give: of one that was deposed, and of an ISR that is too small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from logquake.chaos.checkers.case import DATED_WITHIN_US, END_US, Case
from logquake.chaos.checkers.leaders import taking_office
from logquake.chaos.checkers.producers import stale_producers
from logquake.chaos.checkers.sentences import clock
from logquake.chaos.checkers.verdicts import Violation
from logquake.chaos.evidence.clients import Column
from logquake.chaos.evidence.decisions import StateWrite
from logquake.chaos.history.outcomes import Outcome

_ANY_EPOCH = (1 << 31) - 1  # of a record that nobody can look at


def fencing(case: Case) -> Iterator[Violation]:
    """After the leader of epoch e + 1 is in office, nothing that is sent is acked at e with
    acks=all; a stale producer epoch never appends.

    The epoch of an ack is that of its record in the log. ZooKeeper holds an epoch before its leader
    knows, and until then the old one's followers may still copy: what they copy is not lost.
    """
    yield from stale_producers(case, "fencing")
    sends = case.clients.sends
    for partition, at in case.by_partition(case.is_promised):
        office = sorted((row.at_us, row.epoch or 0) for row in taking_office(case, partition))
        if not office:
            continue
        stored = _epochs_of(case, partition, at)
        times = np.array([time for time, _ in office]) + DATED_WITHIN_US
        epochs = np.maximum.accumulate(np.array([epoch for _, epoch in office]))
        known = np.searchsorted(times, sends.asked_us[at]) - 1
        wrong = (known >= 0) & (stored < epochs[np.maximum(known, 0)])
        if wrong.any():
            which = int(np.flatnonzero(wrong)[0])
            first = at[which]
            text = (
                f"number {sends.number[first]} was sent to {partition} at "
                f"{clock(int(sends.asked_us[first]))} and acked at epoch {stored[which]}, though "
                f"the leader of epoch {epochs[known[which]]} was in office; so were "
                f"{int(wrong.sum())} in all"
            )
            since = int(sends.asked_us[first])
            yield case.violation("fencing", text, partition, since)


def min_isr(case: Case) -> Iterator[Violation]:
    """acks=all ok means that the ISR, as its leader knew it, was as large as min.insync.replicas at
    some moment between the send and its ack; NOT_ENOUGH_REPLICAS means not appended, and of
    NOT_ENOUGH_REPLICAS_AFTER_APPEND nobody knows.
    """
    sends = case.clients.sends
    for partition, at in case.by_partition(case.is_promised):
        minimum = int(case.setting(partition, "min.insync.replicas", "1"))
        for small in _too_small(case, partition, minimum):
            within = (sends.asked_us[at] > small.begin_us) & (sends.answered_us[at] < small.end_us)
            wrong = at[within]
            wrong = wrong[_epochs_of(case, partition, wrong) >= small.epoch]
            if len(wrong):
                text = (
                    f"{len(wrong)} sends to {partition} were acked while its ISR was {small.isr}; "
                    f"min.insync.replicas is {minimum}. The first is number "
                    f"{sends.number[wrong[0]]}"
                )
                yield case.violation("min ISR", text, partition, small.begin_us)
    yield from _refused_and_there(case)


class _Small(NamedTuple):
    """An ISR of too few, from when its leader knew. Who appends at an earlier epoch does not know
    yet what the controller wrote: it is fencing that judges that.
    """

    begin_us: int
    end_us: int
    epoch: int
    isr: list[int]


def _too_small(case: Case, partition: str, minimum: int) -> Iterator[_Small]:
    writes = case.states.get(partition, [])
    ends = [*(write.at_ms * 1000 for write in writes[1:]), END_US][: len(writes)]
    began: tuple[int, int] | None = None
    for write, end_us in zip(writes, ends, strict=True):
        # Kafka's effectiveMinIsr: nobody wants more than there are replicas.
        if len(write.after.isr) >= min(minimum, len(write.replicas)):
            began = None
            continue
        if began is None:
            known_us = _known_us(case, write)
            began = None if known_us is None else (known_us, write.after.leader_epoch)
        if began is not None:
            yield _Small(began[0], end_us, began[1], list(write.after.isr))


def _known_us(case: Case, write: StateWrite) -> int | None:
    """When the leader knew of the ISR, at the latest; None if it never did.

    What the controller wrote of its own it tells with another epoch. What the leader asked for it
    hears in an answer that may be late, and until then the larger ISR is in force.
    """
    before, after = write.before, write.after
    events = case.events_of(str(write.partition))
    was_asked = before is not None and before.leader_epoch == after.leader_epoch
    if not was_asked or not any(row.what == "isr-proposed" for row in events):
        return write.at_ms * 1000 + DATED_WITHIN_US
    told_us = (
        row.at_us + DATED_WITHIN_US
        for row in events
        if row.what == "isr-shrunk"
        and isinstance(row.after, list)  # a controller's own rows tell more
        and row.epoch in (None, after.leader_epoch)
        and set(row.after) == set(after.isr)
        and row.at_us >= write.at_ms * 1000
    )
    return next(told_us, None)


def _epochs_of(case: Case, partition: str, at: Column) -> Column:
    """The leader epoch at which each send's record was appended."""
    sends, log = case.clients.sends, case.reference(partition)
    epochs = np.full(len(at), _ANY_EPOCH, np.int64)
    if log is not None:
        held = log.values_at(sends.offset[at]) == sends.number[at]
        epochs[held] = log.batches["epoch"][log.batches_of(sends.offset[at[held]])]
    return epochs


def _refused_and_there(case: Case) -> Iterator[Violation]:
    """Refused for good: of a send that was tried before, an earlier attempt may be there."""
    sends, reasons = case.clients.sends, case.clients.reasons
    refused = sends.number[sends.outcome == int(Outcome.REFUSED)].tolist()
    few = [number for number in refused if reasons.get(number) == "NOT_ENOUGH_REPLICAS"]
    for partition, log in case.references() if few else ():
        count = int(np.isin(np.array(few, np.int64), log.values).sum())
        if count:
            text = f"{count} sends to {partition} got NOT_ENOUGH_REPLICAS, and are in its log"
            yield case.violation("min ISR", text, partition)
