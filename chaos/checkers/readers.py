"""What was handed to applications, in which order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from logquake.chaos.checkers.case import Case
from logquake.chaos.checkers.verdicts import Violation
from logquake.chaos.evidence.clients import NONE, Column, Polls, pick
from logquake.chaos.evidence.stored import Mask, StoredLog

_COMMITTED = "read_committed"
_NONE_AT_ALL = np.empty(0, np.int64), np.empty(0, np.int64)


def polls(case: Case) -> Iterator[Violation]:
    """No skip and no step back within an assignment; a reader of committed records is shown none
    beyond the last stable offset, that is, behind a transaction whose end was not yet asked for.

    An offset may be passed over that holds a marker, an aborted record, or nothing any more. Who
    reads on behind what was cut off has skipped what took its place (KIP-320).
    """
    read = case.clients.polls
    told = case.producers("isolation", _COMMITTED)
    for partition, runs in case.runs.items():
        is_committed = told[read.process[runs]]
        yield from _steps(case, partition, runs, is_committed)
        yield from _too_early(case, partition, runs[is_committed])


def _steps(case: Case, partition: str, at: Column, is_committed: Mask) -> Iterator[Violation]:
    """From run to run: within one there is none."""
    read = case.clients.polls
    order = np.lexsort((at, read.assignment[at], read.process[at]))
    at, is_committed = at[order], is_committed[order]
    same = (np.diff(read.assignment[at]) == 0) & (np.diff(read.process[at]) == 0)
    begins, last = read.offset[at][1:], read.last[at][:-1]
    moved = begins - last
    back = np.flatnonzero(same & (moved <= 0))
    if len(back):
        yield _step(case, partition, at[back[0]], at[back[0] + 1], "went back", len(back))
    log = case.reference(partition)
    if log is None:
        return
    blind = np.flatnonzero(same & (moved > 0) & _goes_beyond_a_cut(read, at, log))
    if len(blind):
        what = "read on behind what was cut off"
        yield _step(case, partition, at[blind[0]], at[blind[0] + 1], what, len(blind), since_us=0)
    jumps = np.flatnonzero(same & (moved > 1))
    for wanted, visible in ((True, log.committed_offsets), (False, log.offsets)):
        mine = jumps[is_committed[jumps] == wanted]
        after = np.maximum(last[mine] + 1, log.start)  # what lay before was deleted
        passed = np.searchsorted(visible, begins[mine]) - np.searchsorted(visible, after)
        skipped = mine[passed > 0]
        if len(skipped):
            one = skipped[0]
            yield _step(case, partition, at[one], at[one + 1], "skipped", len(skipped))


def _goes_beyond_a_cut(read: Polls, at: Column, log: StoredLog) -> Mask:
    """Of each run but the last: what it ended with is not there now, and the next run is."""
    ends, begins = at[:-1], at[1:]
    last = read.values[read.begin[ends] + read.count[ends] - 1]
    now = log.values_at(read.last[ends])
    is_replaced = (now >= 0) & (last >= 0) & (now != last)
    is_there = log.values_at(read.offset[begins]) == read.values[read.begin[begins]]
    beyond: Mask = is_replaced & is_there
    return beyond


def _step(
    case: Case,
    partition: str,
    one: int,
    other: int,
    what: str,
    count: int,
    since_us: int | None = None,
) -> Violation:
    """``since_us`` is when the cause may have been, if that is not when the record was read."""
    read = case.clients.polls
    text = (
        f"{case.clients.processes[int(read.process[one])]} {what} in {partition}: offset "
        f"{read.offset[other]} came after {read.last[one]}; {count} times in all"
    )
    since_us = int(read.at_us[one]) if since_us is None else since_us
    return case.violation("polls", text, partition, since_us)


def _too_early(case: Case, partition: str, at: Column) -> Iterator[Violation]:
    """Records of, or behind, a transaction that was committed later than they were read.

    A run's last record is behind the most transactions.
    """
    log = case.reference(partition)
    if log is None or not len(at):
        return
    begins, ends = _transactions(case, partition, log)
    polls = case.clients.polls
    late = at[_ended_by(begins, ends, polls.last[at]) > polls.at_us[at]]
    if len(late):
        read = polls.spread(late)
        wrong = np.flatnonzero(_ended_by(begins, ends, read.offset) > polls.at_us[read.run])
        run = int(read.run[wrong[0]])
        text = (
            f"{case.clients.processes[int(polls.process[run])]} read offset "
            f"{read.offset[wrong[0]]} of {partition}, behind a transaction that nobody had asked "
            f"to commit; so it did {len(wrong)} times"
        )
        yield case.violation("polls", text, partition, int(polls.at_us[run]))


def _ended_by(begins: Column, ends: Column, offsets: Column) -> Column:
    """When all transactions were asked to commit that begin at or before each offset."""
    return np.concatenate(([NONE], ends))[np.searchsorted(begins, offsets, side="right")]


def _transactions(case: Case, partition: str, log: StoredLog) -> tuple[Column, Column]:
    """Where transactions begin in the log, rising, and when all up to there were asked to commit.

    Only those count that are known to be committed: others may be ended by their time-out.
    """
    clients = case.clients
    if not clients.transactions:
        return _NONE_AT_ALL
    at = clients.sends.find(clients.partitions.known(partition), log.values)
    transaction = pick(clients.sends.transaction, at)
    mine = transaction >= 0
    which, first = np.unique(transaction[mine], return_index=True)
    offsets = log.offsets[mine][first]
    asked = np.array(
        [
            clients.transactions[int(index)].asked_us
            if clients.transactions[int(index)].outcome == "committed"
            else -1
            for index in which
        ],
        np.int64,
    )
    order = np.argsort(offsets)
    return offsets[order], np.maximum.accumulate(asked[order]) if len(order) else asked
