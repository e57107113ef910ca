"""What became of the sends of transactions, by the log that counts."""

from __future__ import annotations

import numpy as np

from logquake.chaos.checkers.case import Case
from logquake.chaos.evidence.clients import Column
from logquake.chaos.evidence.stored import ABORTED, COMMITTED

GONE = 4


def fates_of(case: Case) -> Column:
    """Of each send: what its transaction came to where it was written; GONE where it is not."""
    sends = case.clients.sends
    fates = np.full(len(sends), GONE, np.int64)
    for partition, at in case.by_partition(sends.transaction >= 0):
        log = case.reference(partition)
        if log is None:
            fates[at] = np.where(case.is_of_deleted[at], _any_fate(case, at), COMMITTED)
            continue
        order = np.argsort(log.values, kind="stable")
        values = log.values[order]
        if len(values):
            where = np.minimum(np.searchsorted(values, sends.number[at]), len(values) - 1)
            is_there = values[where] == sends.number[at]
            fates[at[is_there]] = log.record_fates[order[where[is_there]]]
        gone = at[fates[at] == GONE]
        kept = case.is_kept(partition, log, sends.number[gone], sends.offset[gone])
        may_be_deleted = log.start > 0 or case.is_compacted(partition)
        is_deleted = case.is_of_deleted[gone] | may_be_deleted
        excused = gone[(kept & (sends.offset[gone] >= 0)) | is_deleted]
        fates[excused] = _any_fate(case, excused)
    return fates


def _any_fate(case: Case, at: Column) -> Column:
    """What fits what the client was told, of records that nobody can look at any more."""
    clients = case.clients
    is_committed = np.array([t.outcome == "committed" for t in clients.transactions], np.bool_)
    return np.where(is_committed[clients.sends.transaction[at]], COMMITTED, ABORTED)
