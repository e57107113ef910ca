"""What was handed to applications, in which order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from logquake.chaos.checkers.case import Case
from logquake.chaos.checkers.verdicts import Violation
from logquake.chaos.evidence.clients import Column, pick
from logquake.chaos.evidence.stored import Mask, StoredLog

_COMMITTED = "read_committed"


def polls(case: Case) -> Iterator[Violation]:
    """No skip and no step back within an assignment; a reader of committed records is shown none
    beyond the last stable offset, that is, behind a transaction whose end was not yet asked for.

    An offset may be passed over that holds a marker, an aborted record, or nothing any more.
    """
    read = case.clients.polls
    told = case.producers("isolation", _COMMITTED)
    for partition, at in case.polls_by_partition(read.offset >= 0):
        is_committed = told[read.process[at]]
        yield from _steps(case, partition, at, is_committed)
        yield from _too_early(case, partition, at[is_committed])


def _steps(case: Case, partition: str, at: Column, is_committed: Mask) -> Iterator[Violation]:
    read = case.clients.polls
    order = np.lexsort((at, read.assignment[at], read.process[at]))
    at, is_committed = at[order], is_committed[order]
    offsets = read.offset[at]
    same = (np.diff(read.assignment[at]) == 0) & (np.diff(read.process[at]) == 0)
    moved = np.diff(offsets)
    back = np.flatnonzero(same & (moved <= 0))
    if len(back):
        yield _step(case, partition, at[back[0]], at[back[0] + 1], "went back", len(back))
    log = case.reference(partition)
    if log is None:
        return
    jumps = np.flatnonzero(same & (moved > 1))
    for wanted, visible in ((True, log.committed_offsets), (False, log.offsets)):
        mine = jumps[is_committed[jumps] == wanted]
        after = np.maximum(offsets[mine] + 1, log.start)  # what lay before was deleted
        passed = np.searchsorted(visible, offsets[mine + 1]) - np.searchsorted(visible, after)
        skipped = mine[passed > 0]
        if len(skipped):
            one = skipped[0]
            yield _step(case, partition, at[one], at[one + 1], "skipped", len(skipped))


def _step(case: Case, partition: str, one: int, other: int, what: str, count: int) -> Violation:
    read = case.clients.polls
    text = (
        f"{case.clients.processes[int(read.process[one])]} {what} in {partition}: offset "
        f"{read.offset[other]} came after {read.offset[one]}; {count} times in all"
    )
    return case.violation("polls", text, partition, int(read.at_us[one]))


def _too_early(case: Case, partition: str, at: Column) -> Iterator[Violation]:
    """Records of, or behind, a transaction that was committed later than they were read."""
    log = case.reference(partition)
    if log is None or not len(at):
        return
    begins, ends = _transactions(case, log)
    if not len(begins):
        return
    read = case.clients.polls
    before = np.searchsorted(begins, read.offset[at], side="right") - 1
    wrong = (before >= 0) & (ends[np.maximum(before, 0)] > read.at_us[at])
    if wrong.any():
        first = at[int(np.flatnonzero(wrong)[0])]
        reader = case.clients.processes[int(read.process[first])]
        text = (
            f"{reader} read offset {read.offset[first]} of {partition}, behind a transaction that "
            f"nobody had asked to commit; so it did {int(wrong.sum())} times"
        )
        yield case.violation("polls", text, partition, int(read.at_us[first]))


def _transactions(case: Case, log: StoredLog) -> tuple[Column, Column]:
    """Where transactions begin in the log, rising, and when all up to there were asked to commit.

    Only those count that are known to be committed: others may be ended by their time-out.
    """
    clients = case.clients
    at = clients.sends.find(log.values)
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
