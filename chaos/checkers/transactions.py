"""Transactions: all or nothing, ended some day, and each input once (KIP-98)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from logquake.chaos.checkers.case import Case
from logquake.chaos.checkers.fates import GONE, fates_of
from logquake.chaos.checkers.sentences import clock
from logquake.chaos.checkers.verdicts import Violation
from logquake.chaos.evidence.clients import NONE, Column, Numbers, Transaction, pick
from logquake.chaos.evidence.stored import ABORTED, COMMITTED, OPEN, PLAIN, Mask
from logquake.chaos.history.outcomes import Outcome

_NOWHERE = int(np.iinfo(np.int64).max)
_NAMES = {COMMITTED: "committed", ABORTED: "aborted", OPEN: "open", PLAIN: "in no transaction"}


class Fates(NamedTuple):
    """Of the transactions of a run, by index: what was seen of each, as bits, and where first."""

    seen: npt.NDArray[np.uint8]
    first: Column  # the lowest number of its sends
    partition: Numbers  # of that one
    names: Sequence[str]  # of the partitions


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
    chosen = chosen[np.argsort(sends.number[chosen])]
    count = len(case.clients.transactions)
    seen = np.zeros(count, np.uint8)
    np.bitwise_or.at(
        seen, sends.transaction[chosen], 1 << case.once(fates_of)[chosen].astype(np.uint8)
    )
    transactions, at = np.unique(sends.transaction[chosen], return_index=True)
    first, partition = np.full(count, _NOWHERE), np.full(count, NONE, np.int32)
    first[transactions] = sends.number[chosen[at]]
    partition[transactions] = sends.partition[chosen[at]]
    return Fates(seen, first, partition, case.clients.partitions.all)


def torn(case: Case, shares: Sequence[Fates]) -> Iterator[Violation]:
    """Over all partitions, which each of the shares has seen some of."""
    seen = np.bitwise_or.reduce([share.seen for share in shares])
    asked = _last_asked(case)
    for index in np.flatnonzero(seen).tolist():
        transaction = case.clients.transactions[index]
        fates = {fate for fate in (*_NAMES, GONE) if int(seen[index]) & 1 << fate}
        problem = _problem(transaction.outcome, transaction.asked, fates)
        if problem is not None:
            share = min(shares, key=lambda share: int(share.first[index]))
            partition = share.names[share.partition[index]]
            text = f"{transaction}, at {clock(transaction.begun_us)}, {problem}"
            found = case.violation("atomic", text, partition, transaction.begun_us)
            others = _asked_by_others(transaction, asked.get(transaction.name, {}))
            yield replace(found, chain=(*others, *found.chain))


def _last_asked(case: Case) -> Mapping[str, Mapping[str, Transaction]]:
    """By transactional id, of each process the last of its transactions that was to end."""
    last: dict[str, dict[str, Transaction]] = defaultdict(dict)
    for transaction in case.clients.transactions:
        if transaction.asked is not None:
            last[transaction.name][transaction.process] = transaction
    return last


def _asked_by_others(mine: Transaction, asked: Mapping[str, Transaction]) -> Iterator[str]:
    """What came late may have decided a transaction of whoever had the transactional id by then."""
    for process, other in asked.items():
        if process != mine.process:
            asked_at = clock(other.asked_us)
            yield f"{asked_at} {process} asked to {other.asked} another, as {mine.name!r}"


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
    clients, polls = case.clients, case.clients.polls
    told = case.producers("isolation", "read_committed")
    is_aborted = (clients.sends.transaction >= 0) & (case.once(fates_of) == ABORTED)
    for partition, at in case.by_partition(is_aborted):
        runs = case.runs.get(partition, at[:0])
        read = polls.spread(runs[told[polls.process[runs]]])
        aborted = read.where(np.isin(read.value, clients.sends.number[at]))
        if len(aborted.run):
            run = int(aborted.run[0])
            text = (
                f"{clients.processes[int(polls.process[run])]} read offset {aborted.offset[0]} of "
                f"{partition}, which was aborted; so it did {len(aborted.run)} times"
            )
            yield case.violation("atomic", text, partition, int(polls.at_us[run]))


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
            found = case.violation("no hang", text, partition)
            number = log.values_at(np.array([batch["first"]], np.int64))
            yield replace(found, chain=(*_of_transaction(case, partition, number), *found.chain))


def _of_transaction(case: Case, partition: str, number: Column) -> Iterator[str]:
    """What its client knows of the transaction that one record is of."""
    sends = case.clients.sends
    at = sends.find(case.clients.partitions.known(partition), number)
    (index,) = pick(sends.transaction, at).tolist()
    if index < 0:
        return
    transaction, (answered_us,) = case.clients.transactions[index], sends.answered_us[at].tolist()
    if transaction.asked is None:
        yield f"{clock(transaction.begun_us)} {transaction.process} began it, and never ended it"
        return
    order = "after" if answered_us > transaction.asked_us else "before"
    acked = "was never acked" if answered_us < 0 else f"was acked {order} that"
    yield (
        f"{clock(transaction.asked_us)} {transaction.process} asked to {transaction.asked} it; "
        f"number {int(number[0])} of it {acked}"
    )


class Input(NamedTuple):
    group: str  # that moves it
    partition: str


class Outputs(NamedTuple):
    """Of the records of one input that others were made of, in no order; one element each."""

    offsets: Column
    is_committed: Mask


class Moved(NamedTuple):
    """What one share tells: outputs by the process that made them and the partition they were made
    of, the group of each process that moves, and where each group goes on.
    """

    outputs: Mapping[tuple[str, str], Outputs]
    group_of: Mapping[str, str]
    ends: Mapping[Input, int]


def exactly_once(case: Case) -> Iterator[Violation]:
    """Each input offset yields one committed output of each group that moves it: of what is below
    the group's last offset that was committed in a transaction, and was taken by somebody.
    """
    yield from not_once(case, [moved(case)])


def moved(case: Case) -> Moved:
    commits = [commit for commit in case.clients.commits if commit.transaction >= 0]
    group_of = {commit.process: commit.group for commit in commits}
    ends: dict[Input, int] = {}
    for commit in commits:
        if case.clients.transactions[commit.transaction].outcome == "committed":
            source = Input(commit.group, commit.partition)
            ends[source] = max(ends.get(source, 0), commit.offset)
    return Moved(_outputs(case), group_of, ends)


def _outputs(case: Case) -> dict[tuple[str, str], Outputs]:
    clients, sends = case.clients, case.clients.sends
    made = np.flatnonzero(sends.source != NONE)
    made = made[np.lexsort((sends.source[made], sends.process[made]))]
    is_other = np.diff(sends.source[made]) | np.diff(sends.process[made])
    found = {}
    for at in np.split(made, np.flatnonzero(is_other) + 1):
        if len(at):
            process = clients.processes[int(sends.process[at[0]])]
            partition = clients.partitions[int(sends.source[at[0]])]
            is_committed = case.once(fates_of)[at] == COMMITTED
            found[process, partition] = Outputs(sends.source_offset[at], is_committed)
    return found


def not_once(case: Case, shares: Sequence[Moved]) -> Iterator[Violation]:
    """Over all inputs, of which each of the shares has seen some outputs."""
    group_of = {process: group for share in shares for process, group in share.group_of.items()}
    outputs: dict[Input, list[Outputs]] = defaultdict(list)
    for share in shares:
        for (process, partition), found in share.outputs.items():
            outputs[Input(group_of.get(process, ""), partition)].append(found)
    for source, seen in sorted(outputs.items(), key=itemgetter(0)):
        end = max((share.ends.get(source, 0) for share in shares), default=0)
        offsets, origin = np.unique(
            np.concatenate([each.offsets for each in seen]), return_inverse=True
        )
        counts = np.bincount(
            origin[np.concatenate([each.is_committed for each in seen])], minlength=len(offsets)
        )
        for problem, wrong in (
            ("yielded more than one output", offsets[counts > 1]),
            ("yielded no output", offsets[(counts == 0) & (offsets < end)]),
        ):
            if len(wrong):
                text = (
                    f"{len(wrong)} offsets of {source.partition} {problem} of group "
                    f"{source.group}, the first is {wrong[0]}"
                )
                yield case.violation("exactly once", text, source.partition)
