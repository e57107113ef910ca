"""Transactions: all or nothing, ended some day, and each input once (KIP-98)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from logquake.chaos.checkers.case import Case
from logquake.chaos.checkers.chains import clock
from logquake.chaos.checkers.verdicts import Violation
from logquake.chaos.evidence.clients import Column, pick
from logquake.chaos.evidence.stored import ABORTED, COMMITTED, OPEN, PLAIN
from logquake.chaos.history.outcomes import Outcome

_NAMES = {COMMITTED: "committed", ABORTED: "aborted", OPEN: "open", PLAIN: "in no transaction"}
_GONE = 4


def atomic(case: Case) -> Iterator[Violation]:
    """Of a transaction all is decided alike, in every partition, and as the client was told; no
    reader of committed records sees what was aborted.

    A marker without data before it ends a transaction that wrote nothing there, or was sent twice
    by a coordinator that changed: neither shows.
    """
    clients, fates = case.clients, _fates(case)
    found: dict[int, set[int]] = defaultdict(set)
    chosen = clients.sends.transaction >= 0
    chosen &= clients.sends.outcome != int(Outcome.REFUSED)
    for transaction, fate in zip(
        clients.sends.transaction[chosen].tolist(), fates[chosen].tolist(), strict=True
    ):
        found[transaction].add(fate)
    for index, seen in sorted(found.items()):
        transaction = clients.transactions[index]
        problem = _problem(transaction.outcome, transaction.asked, seen)
        if problem is not None:
            partition = clients.partitions[
                int(clients.sends.partition[np.argmax(clients.sends.transaction == index)])
            ]
            text = f"{transaction}, at {clock(transaction.begun_us)}, {problem}"
            yield case.violation("atomic", text, partition, transaction.begun_us)
    yield from _aborted_reads(case, fates)


def _problem(outcome: str, asked: str | None, seen: set[int]) -> str | None:
    decided = seen - {_GONE}
    names = " and ".join(_NAMES[fate] for fate in sorted(decided))
    if {COMMITTED, ABORTED} <= decided or (COMMITTED in decided and OPEN in decided):
        return f"is torn: it is {names}"
    if outcome == "committed" and (decided - {COMMITTED} or _GONE in seen):
        rest = " and in part not there" if _GONE in seen else ""
        return f"was told to be committed: it is {names or 'nowhere'}{rest}"
    if COMMITTED in decided and (outcome == "aborted" or asked != "commit"):
        return f"was {outcome}, asked to {asked or 'do nothing'}: it is {names}"
    if COMMITTED in decided and _GONE in seen:
        return "is torn: a part of it is not there"
    return None


def _fates(case: Case) -> Column:
    """Of each send: what its transaction came to where it was written; _GONE where it is not."""
    sends = case.clients.sends
    fates = np.full(len(sends), _GONE, np.int64)
    for partition, at in case.by_partition(sends.transaction >= 0):
        log = case.reference(partition)
        if log is None:
            fates[at] = COMMITTED
            continue
        order = np.argsort(log.values, kind="stable")
        values = log.values[order]
        if len(values):
            where = np.minimum(np.searchsorted(values, sends.number[at]), len(values) - 1)
            is_there = values[where] == sends.number[at]
            fates[at[is_there]] = log.record_fates[order[where[is_there]]]
        gone = at[fates[at] == _GONE]
        kept = case.is_kept(partition, log, sends.number[gone], sends.offset[gone])
        deleted = log.start > 0 or case.is_compacted(partition)
        excused = gone[(kept & (sends.offset[gone] >= 0)) | deleted]
        fates[excused] = _any_fate(case, excused)
    return fates


def _any_fate(case: Case, at: Column) -> Column:
    """What fits what the client was told, of records that nobody can look at any more."""
    clients = case.clients
    is_committed = np.array([t.outcome == "committed" for t in clients.transactions], np.bool_)
    return np.where(is_committed[clients.sends.transaction[at]], COMMITTED, ABORTED)


def _aborted_reads(case: Case, fates: Column) -> Iterator[Violation]:
    clients = case.clients
    told = case.producers("isolation", "read_committed")
    if not len(clients.polls):
        return
    at = clients.sends.find(clients.polls.value)
    aborted = told[clients.polls.process] & (pick(clients.sends.transaction, at) >= 0)
    aborted &= pick(fates, at) == ABORTED
    if aborted.any():
        first = int(np.flatnonzero(aborted)[0])
        partition = clients.partitions[int(clients.polls.partition[first])]
        reader = clients.processes[int(clients.polls.process[first])]
        text = (
            f"{reader} read offset {clients.polls.offset[first]} of {partition}, which was "
            f"aborted; so it did {int(aborted.sum())} times"
        )
        yield case.violation("atomic", text, partition, int(clients.polls.at_us[first]))


def no_hang(case: Case) -> Iterator[Violation]:
    """At quiesce, and after the transactions' time-out, the last stable offset is the high
    watermark: no transaction is open.
    """
    for partition, log in case.references():
        open_ = np.flatnonzero(log.fates == OPEN)
        if len(open_):
            batch = log.batches[int(open_[0])]
            text = (
                f"a transaction of producer {batch['producer_id']}, epoch "
                f"{batch['producer_epoch']}, is open in {partition} since offset {batch['first']}"
            )
            yield case.violation("no hang", text, partition)


def exactly_once(case: Case) -> Iterator[Violation]:
    """Each input offset yields one committed output: of what is below the group's last offset that
    was committed in a transaction, and was taken by somebody.
    """
    clients, fates = case.clients, _fates(case)
    outputs: dict[tuple[str, int], int] = defaultdict(int)
    at = clients.sends.find(np.array(list(clients.origins), np.int64))
    for origin, is_committed in zip(
        clients.origins.values(), (pick(fates, at) == COMMITTED).tolist(), strict=True
    ):
        outputs[origin] += is_committed
    ends = _consumed(case)
    many: dict[str, list[int]] = defaultdict(list)
    none: dict[str, list[int]] = defaultdict(list)
    for (partition, offset), count in sorted(outputs.items()):
        if count > 1:
            many[partition].append(offset)
        elif count == 0 and offset < ends.get(partition, 0):
            none[partition].append(offset)
    for problem, wrong in (("yielded more than one output", many), ("yielded no output", none)):
        for partition, offsets in wrong.items():
            text = f"{len(offsets)} offsets of {partition} {problem}, the first is {offsets[0]}"
            yield case.violation("exactly once", text, partition)


def _consumed(case: Case) -> dict[str, int]:
    ends: dict[str, int] = {}
    for commit in case.clients.commits:
        index = commit.transaction
        if index >= 0 and case.clients.transactions[index].outcome == "committed":
            ends[commit.partition] = max(ends.get(commit.partition, 0), commit.offset)
    return ends
