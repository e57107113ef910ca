"""What was acked is there, and can be read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from logquake.chaos.checkers.case import END_US, Case
from logquake.chaos.checkers.sentences import clock
from logquake.chaos.checkers.verdicts import Violation
from logquake.chaos.evidence.clients import Column, pick
from logquake.chaos.evidence.stored import StoredLog

_NOWHERE = np.empty(0, np.int64)


def durable(case: Case) -> Iterator[Violation]:
    """acks=all ok(v, o) means that at quiesce every replica of the ISR holds v at o.

    Exempt is what lies before a log's start, and what compaction may remove.
    """
    for partition, at in case.by_partition(case.is_promised):
        for broker, log in case.members(partition):
            lost = at if log is None else _missing(case, partition, log, at)
            if len(lost):
                yield _lost(case, "durable", partition, f"broker {broker} of the ISR", lost)


def unpromised(case: Case) -> Iterator[Violation]:
    """Losses that no acks promised to prevent: no violation, but somebody will ask."""
    for partition, at in case.by_partition(case.is_acked & ~case.is_promised):
        log = case.reference(partition)
        lost = at[:0] if log is None else _missing(case, partition, log, at)
        if len(lost):
            yield _lost(case, "lost, as acks allow", partition, "the leader", lost)


def readable(case: Case) -> Iterator[Violation]:
    """Who reads a partition from the beginning, after its last ack, reads every ok v at its offset.

    Not what an aborted transaction wrote, where it reads committed records alone.
    """
    for name, partitions in late_readers(case).items():
        for partition, at in case.by_partition(case.is_promised & _is_visible_to(case, name)):
            if partition in partitions:
                lost = _not_deleted(case, partition, _unread(case, name, partition, at))
                if len(lost):
                    yield _lost(case, "readable", partition, f"what {name} read", lost)


def _unread(case: Case, reader: str, partition: str, at: Column) -> Column:
    """Those of the sends that this reader was not handed, from the offset of their acks."""
    clients, sends = case.clients, case.clients.sends
    runs = case.runs.get(partition, _NOWHERE)
    mine = runs[clients.polls.process[runs] == clients.processes.known(reader)]
    read = clients.polls.spread(mine)
    index = clients.partitions.known(partition)
    there = sends.within(index)
    found = sends.find(index, read.value)
    is_read = np.zeros(there.stop - there.start, np.bool_)
    is_read[found[pick(sends.offset, found) == read.offset] - there.start] = True
    unread: Column = at[~is_read[at - there.start]]
    return unread


def _not_deleted(case: Case, partition: str, at: Column) -> Column:
    """Those that are there, or should be."""
    log = case.reference(partition)
    if log is None:
        return at
    numbers, offsets = case.clients.sends.number[at], case.clients.sends.offset[at]
    is_there = log.values_at(offsets) == numbers
    wanted: Column = at[is_there | ~case.is_kept(partition, log, numbers, offsets)]
    return wanted


def late_readers(case: Case) -> dict[str, set[str]]:
    """Processes that read whole partitions and ended by themselves, with those of them in which
    nothing was answered any more after they began.
    """
    clients = case.clients
    everything = np.ones(len(clients.sends), np.bool_)
    last_us = {
        partition: int(clients.sends.answered_us[at].max())
        for partition, at in case.by_partition(everything)
    }
    found: dict[str, set[str]] = defaultdict(set)
    for row in clients.assignments:
        name = row.process
        is_whole = clients.told.get(name, {}).get("kind") == "reader" and name in clients.ended
        if is_whole and clients.began_us[name] > last_us.get(row.subject, END_US):
            found[name].add(row.subject)
    return found


def _is_visible_to(case: Case, reader: str) -> np.ndarray:
    clients = case.clients
    if clients.told[reader].get("isolation") != "read_committed":
        return np.ones(len(clients.sends), np.bool_)
    outcomes = np.array([each.outcome == "committed" for each in clients.transactions], np.bool_)
    transaction = clients.sends.transaction
    if not len(outcomes):
        return transaction < 0
    return (transaction < 0) | outcomes[transaction]


def _missing(case: Case, partition: str, log: StoredLog, at: Column) -> Column:
    sends = case.clients.sends
    return at[~case.is_kept(partition, log, sends.number[at], sends.offset[at])]


def _lost(case: Case, invariant: str, partition: str, where: str, lost: Column) -> Violation:
    sends = case.clients.sends
    first = lost[np.argmin(sends.offset[lost])]
    answered_us = int(sends.answered_us[first])
    state = case.state_at(partition, answered_us)
    led = f" at epoch {state.leader_epoch} by broker {state.leader}" if state else ""
    begin, end = sends.offset[lost].min(), sends.offset[lost].max()
    process = case.clients.processes[int(sends.process[first])]
    text = (
        f"{len(lost)} acked sends to {partition} are not in {where}, offsets {begin} to {end}; "
        f"offset {begin} was acked{led} at {clock(answered_us)}, to {process}"
    )
    return case.violation(invariant, text, partition, answered_us)
