"""Leaders, their ISRs and high watermarks, held against what was committed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from logquake.chaos.checkers.case import DATED_WITHIN_US, END_US, Case, has_leader
from logquake.chaos.checkers.committed import committed_before
from logquake.chaos.checkers.sentences import clock
from logquake.chaos.checkers.verdicts import Violation
from logquake.chaos.evidence.decisions import StateWrite
from logquake.chaos.history.rows import Row

_CUTS = frozenset({"log-truncated", "log-restarted", "log-begun-with-batch"})


def one_leader_per_epoch(case: Case) -> Iterator[Violation]:
    """ZooKeeper names one leader of an epoch, and no other broker's journal says that it leads.

    Of a topic that was deleted and made again, epochs begin anew.
    """
    for partition, writes in case.states.items():
        begins = [at for at, write in enumerate(writes) if at == 0 or write.before is None]
        for begin, end in pairwise([*begins, len(writes)]):
            until_us = writes[end].at_ms * 1000 if end < len(writes) else END_US
            yield from _one_leader_each(case, partition, writes[begin:end], until_us)


def _one_leader_each(
    case: Case, partition: str, writes: Sequence[StateWrite], until_us: int
) -> Iterator[Violation]:
    leaders: dict[int, int] = {}
    for write in writes:
        epoch, leader = write.after.leader_epoch, write.after.leader
        if leaders.setdefault(epoch, leader) != leader and has_leader(write.after):
            text = f"{partition} has leaders {leaders[epoch]} and {leader} at epoch {epoch}"
            yield case.violation("one leader per epoch", text, partition)
    since_us = writes[0].at_ms * 1000
    for row in taking_office(case, partition):
        named = leaders.get(row.epoch or 0) if since_us <= row.at_us < until_us else None
        if named is not None and row.process != f"broker-{named}":
            text = (
                f"{row.process} led {partition} at epoch {row.epoch} from {clock(row.at_us)} on, "
                f"ZooKeeper names broker {named}"
            )
            yield case.violation("one leader per epoch", text, partition)


def taking_office(case: Case, partition: str) -> Iterator[Row]:
    for row in case.events_of(partition):
        if row.what == "role-changed" and row.after == "leader":
            yield row


def isr_completeness(case: Case) -> Iterator[Violation]:
    """Every running member of the ISR holds everything committed, at each look and at the end.

    Within a look the high watermark is asked before the log ends, and an ISR that changed
    meanwhile does not count. What was committed by the look before counts as well. A member that
    has not made its log yet holds all of nothing.
    """
    last_us: dict[str, int] = {}
    for look in case.clients.looks:
        known = committed_before(case, look.subject, last_us.get(look.subject, 0))
        committed = max(known, look.offset or 0)
        what = "the high watermark was" if look.offset == committed else "committed was up to"
        last_us[look.subject] = look.at_us
        ends = (look.after or {}).get("log_ends") or {}
        for broker in (look.after or {}).get("isr") or ():
            end = ends.get(str(broker))
            if end is not None and end < committed:
                text = (
                    f"broker {broker} was in the ISR of {look.subject} with a log that ended at "
                    f"{end}; {what} {committed} at {clock(look.at_us)}"
                )
                yield case.violation("ISR completeness", text, look.subject)
    for partition in sorted(case.evidence.logs):
        committed = committed_before(case, partition)
        for broker, log in case.members(partition):
            if broker in case.registered and (log.end if log else 0) < committed:
                end = "is not there" if log is None else f"ends at {log.end}"
                text = f"broker {broker} is in the ISR of {partition}, its log {end}; "
                text += f"committed is up to {committed}"
                yield case.violation("ISR completeness", text, partition)


def leader_completeness(case: Case) -> Iterator[Violation]:
    """An elected leader's log holds everything that was committed before.

    Where its epoch begins in the log that counts is where its log ended when it was elected. Of
    several that nothing is left of but the last one's, those that were unclean are to blame.
    """
    for partition in case.states:
        short = list(_elected_short(case, partition))
        unclean = {one.begins for one in short if one.write.is_unclean}
        for write, begins, committed in short:
            if write.is_unclean or begins not in unclean:
                text = (
                    f"broker {write.after.leader} was elected for {partition} at epoch "
                    f"{write.after.leader_epoch} with a log that ended at {begins}; committed was "
                    f"up to {committed}"
                )
                since = write.at_ms * 1000
                yield case.violation("leader completeness", text, partition, since)


class _Short(NamedTuple):
    """An election of one whose log ended before what was committed."""

    write: StateWrite
    begins: int
    committed: int


def _elected_short(case: Case, partition: str) -> Iterator[_Short]:
    log = case.reference(partition)
    if log is None:
        return
    for write in case.states[partition]:
        if write.elects and write.before is not None and has_leader(write.after):
            committed = committed_before(case, partition, write.at_ms * 1000)
            begins = log.first_of_epoch(write.after.leader_epoch)
            if begins < committed and committed > log.start:
                yield _Short(write, begins, committed)


def high_watermark(case: Case) -> Iterator[Violation]:
    """Never falls within a leader epoch; the last stable offset is at or below it. That all of the
    ISR have what is below it is judged as ISR completeness.
    """
    last: dict[tuple[str, int], Row] = {}
    for look in case.clients.looks:
        if look.offset is None or look.epoch is None:
            continue
        after = look.after or {}
        before = last.get((look.subject, look.epoch))
        if before is not None and (before.offset or 0) > look.offset:
            text = (
                f"the high watermark of {look.subject} fell from {before.offset} to {look.offset} "
                f"within epoch {look.epoch}, by {clock(look.at_us)}"
            )
            yield case.violation("high watermark", text, look.subject, before.at_us)
        stable = after.get("last_stable")
        if stable is not None and stable > look.offset:
            text = f"the last stable offset of {look.subject}, {stable}, is above {look.offset}"
            yield case.violation("high watermark", text, look.subject)
        last[look.subject, look.epoch] = look


def truncation(case: Case) -> Iterator[Violation]:
    """Truncation never removes a committed offset from a member of the ISR."""
    for row in case.journals:
        if row.what not in _CUTS or not isinstance(row.after, int):
            continue
        broker = int(row.process.rpartition("-")[2])
        states = [case.state_at(row.subject, row.at_us - us) for us in (0, DATED_WITHIN_US)]
        isrs = [state.isr if state is not None else () for state in states]
        committed = committed_before(case, row.subject, row.at_us)
        if all(broker in isr for isr in isrs) and row.after < committed:
            text = (
                f"broker {broker}, in the ISR {list(isrs[0])} of {row.subject}, truncated its "
                f"log{'' if row.before is None else f' from {row.before}'} to {row.after} at "
                f"{clock(row.at_us)}; committed was up to {committed}"
            )
            yield case.violation("truncation", text, row.subject, row.at_us)
