"""Transactions: all or nothing, ended some day, and each input once (KIP-98)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from logquake.chaos.checkers.case import Case
from logquake.chaos.checkers.fates import GONE, fates_of
from logquake.chaos.checkers.sentences import clock
from logquake.chaos.checkers.verdicts import Violation
from logquake.chaos.evidence.clients import Column, pick
from logquake.chaos.evidence.stored import ABORTED, COMMITTED, OPEN, PLAIN, Mask
from logquake.chaos.history.outcomes import Outcome

_NAMES = {COMMITTED: "committed", ABORTED: "aborted", OPEN: "open", PLAIN: "in no transaction"}


class Fates(NamedTuple):
    """Of the transactions of a run, by index: what was seen of each, as bits, and where first."""

    seen: npt.NDArray[np.uint8]
    first: dict[int, tuple[int, str]]  # the number of a send, its partition


def atomic(case: Case) -> Iterator[Violation]:
    """Of a transaction all is decided alike, in every partition, and as the client was told; no
    reader of committed records sees what was aborted.

    A marker without data before it ends a transaction that wrote nothing there, or was sent twice
    by a coordinator that changed: neither shows.
    """
    yield from torn(case, [fates_seen(case)])
    yield from aborted_reads(case)


def fates_seen(case: Case) -> Fates:
    sends = case.clients.sends
    chosen = np.flatnonzero((sends.transaction >= 0) & (sends.outcome != int(Outcome.REFUSED)))
    seen = np.zeros(len(case.clients.transactions), np.uint8)
    np.bitwise_or.at(
        seen, sends.transaction[chosen], 1 << case.once(fates_of)[chosen].astype(np.uint8)
    )
    # Sends are by number: of each transaction the first is found.
    transactions, at = np.unique(sends.transaction[chosen], return_index=True)
    first = {
        int(transaction): (
            int(sends.number[send]),
            case.clients.partitions[int(sends.partition[send])],
        )
        for transaction, send in zip(transactions, chosen[at], strict=True)
    }
    return Fates(seen, first)


def torn(case: Case, shares: Sequence[Fates]) -> Iterator[Violation]:
    """Over all partitions, which each of the shares has seen some of."""
    seen = np.bitwise_or.reduce([share.seen for share in shares])
    for index in np.flatnonzero(seen).tolist():
        transaction = case.clients.transactions[index]
        fates = {fate for fate in (*_NAMES, GONE) if int(seen[index]) & 1 << fate}
        problem = _problem(transaction.outcome, transaction.asked, fates)
        if problem is not None:
            _, partition = min(share.first[index] for share in shares if index in share.first)
            text = f"{transaction}, at {clock(transaction.begun_us)}, {problem}"
            yield case.violation("atomic", text, partition, transaction.begun_us)


def _problem(outcome: str, asked: str | None, seen: set[int]) -> str | None:
    decided = seen - {GONE}
    names = " and ".join(_NAMES[fate] for fate in sorted(decided))
    if {COMMITTED, ABORTED} <= decided or (COMMITTED in decided and OPEN in decided):
        return f"is torn: it is {names}"
    if outcome == "committed" and (decided - {COMMITTED} or GONE in seen):
        rest = " and in part not there" if GONE in seen else ""
        return f"was told to be committed: it is {names or 'nowhere'}{rest}"
    if COMMITTED in decided and (outcome == "aborted" or asked != "commit"):
        return f"was {outcome}, asked to {asked or 'do nothing'}: it is {names}"
    if COMMITTED in decided and GONE in seen:
        return "is torn: a part of it is not there"
    return None


def aborted_reads(case: Case) -> Iterator[Violation]:
    clients = case.clients
    told = case.producers("isolation", "read_committed")
    if not len(clients.polls):
        return
    at = clients.sends.find(clients.polls.value)
    aborted = told[clients.polls.process] & (pick(clients.sends.transaction, at) >= 0)
    aborted &= pick(case.once(fates_of), at) == ABORTED
    for partition, reads in case.polls_by_partition(aborted):
        first = int(reads[0])
        reader = clients.processes[int(clients.polls.process[first])]
        text = (
            f"{reader} read offset {clients.polls.offset[first]} of {partition}, which was "
            f"aborted; so it did {len(reads)} times"
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


class Input(NamedTuple):
    group: str  # that moves it
    partition: str


class Outputs(NamedTuple):
    """Of the records of one input that others were made of, in no order; one element each."""

    offsets: Column
    is_committed: Mask


def exactly_once(case: Case) -> Iterator[Violation]:
    """Each input offset yields one committed output of each group that moves it: of what is below
    the group's last offset that was committed in a transaction, and was taken by somebody.
    """
    yield from not_once(case, [outputs_seen(case)])


def outputs_seen(case: Case) -> dict[Input, Outputs]:
    """By what they were made of."""
    clients = case.clients
    mover_of = {one.process: one.group for one in clients.commits if one.transaction >= 0}
    groups = [mover_of.get(process, "") for process in clients.processes.all]
    at = clients.sends.find(np.array(list(clients.origins), np.int64))
    is_committed = pick(case.once(fates_of), at) == COMMITTED
    origins: dict[Input, tuple[list[int], list[bool]]] = defaultdict(lambda: ([], []))
    for (partition, offset), process, is_one in zip(
        clients.origins.values(),
        pick(clients.sends.process, at).tolist(),
        is_committed.tolist(),
        strict=True,
    ):
        offsets, ones = origins[Input(groups[process], partition)]
        offsets.append(offset)
        ones.append(is_one)
    return {
        source: Outputs(np.array(offsets, np.int64), np.array(ones, np.bool_))
        for source, (offsets, ones) in origins.items()
    }


def not_once(case: Case, shares: Sequence[Mapping[Input, Outputs]]) -> Iterator[Violation]:
    """Over all inputs, of which each of the shares has seen some outputs."""
    ends = _consumed(case)
    for source in sorted({each for share in shares for each in share}):
        seen = [share[source] for share in shares if source in share]
        offsets, origin = np.unique(
            np.concatenate([each.offsets for each in seen]), return_inverse=True
        )
        counts = np.bincount(
            origin[np.concatenate([each.is_committed for each in seen])], minlength=len(offsets)
        )
        for problem, wrong in (
            ("yielded more than one output", offsets[counts > 1]),
            ("yielded no output", offsets[(counts == 0) & (offsets < ends.get(source, 0))]),
        ):
            if len(wrong):
                text = (
                    f"{len(wrong)} offsets of {source.partition} {problem} of group "
                    f"{source.group}, the first is {wrong[0]}"
                )
                yield case.violation("exactly once", text, source.partition)


def _consumed(case: Case) -> dict[Input, int]:
    ends: dict[Input, int] = {}
    for commit in case.clients.commits:
        index = commit.transaction
        if index >= 0 and case.clients.transactions[index].outcome == "committed":
            source = Input(commit.group, commit.partition)
            ends[source] = max(ends.get(source, 0), commit.offset)
    return ends
