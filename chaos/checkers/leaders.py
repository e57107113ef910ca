"""Leaders, their ISRs and high watermarks, held against what was committed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from logquake.chaos.checkers.case import Case, has_leader
from logquake.chaos.checkers.producers import stale_producers
from logquake.chaos.checkers.sentences import clock
from logquake.chaos.checkers.verdicts import Violation
from logquake.chaos.history.outcomes import Outcome
from logquake.chaos.history.rows import Row

_CUTS = frozenset({"log-truncated", "log-restarted", "log-begun-with-batch"})


def one_leader_per_epoch(case: Case) -> Iterator[Violation]:
    """ZooKeeper names one leader of an epoch, and no other broker's journal says that it leads."""
    for partition, writes in case.states.items():
        leaders: dict[int, int] = {}
        for write in writes:
            epoch, leader = write.after.leader_epoch, write.after.leader
            if leaders.setdefault(epoch, leader) != leader and has_leader(write.after):
                text = f"{partition} has leaders {leaders[epoch]} and {leader} at epoch {epoch}"
                yield case.violation("one leader per epoch", text, partition)
        for row in _taking_office(case, partition):
            named = leaders.get(row.epoch or 0)
            if named is not None and row.process != f"broker-{named}":
                text = (
                    f"{row.process} led {partition} at epoch {row.epoch} from {clock(row.at_us)} "
                    f"on, ZooKeeper names broker {named}"
                )
                yield case.violation("one leader per epoch", text, partition)


def _taking_office(case: Case, partition: str) -> Iterator[Row]:
    for row in case.events_of(partition):
        if row.what == "role-changed" and row.after == "leader":
            yield row


def isr_completeness(case: Case) -> Iterator[Violation]:
    """Every running member of the ISR holds everything committed, at each look and at the end.

    Within a look the high watermark is asked before the log ends, and an ISR that changed
    meanwhile does not count.
    """
    for look in case.clients.looks:
        ends = (look.after or {}).get("log_ends") or {}
        for broker in (look.after or {}).get("isr") or ():
            end = ends.get(str(broker))
            if look.offset is not None and end is not None and end < look.offset:
                text = (
                    f"broker {broker} was in the ISR of {look.subject} with a log that ended at "
                    f"{end}; the high watermark was {look.offset} at {clock(look.at_us)}"
                )
                yield case.violation("ISR completeness", text, look.subject)
    for partition in sorted(case.evidence.logs):
        committed = case.committed_before(partition, case.clients.last_us + 1)
        for broker, log in case.members(partition):
            if broker in case.registered and (log is None or log.end < committed):
                end = "is not there" if log is None else f"ends at {log.end}"
                text = f"broker {broker} is in the ISR of {partition}, its log {end}; "
                text += f"committed is up to {committed}"
                yield case.violation("ISR completeness", text, partition)


def leader_completeness(case: Case) -> Iterator[Violation]:
    """An elected leader's log holds everything that was committed before.

    Where its epoch begins in the log that counts is where its log ended when it was elected.
    """
    for partition, writes in case.states.items():
        log = case.reference(partition)
        if log is None:
            continue
        for write in writes:
            if not write.elects or write.before is None or not has_leader(write.after):
                continue
            committed = case.committed_before(partition, write.at_ms * 1000)
            begins = log.first_of_epoch(write.after.leader_epoch)
            if begins < committed and committed > log.start:
                text = (
                    f"broker {write.after.leader} was elected for {partition} at epoch "
                    f"{write.after.leader_epoch} with a log that ended at {begins}; committed was "
                    f"up to {committed}"
                )
                since = write.at_ms * 1000
                yield case.violation("leader completeness", text, partition, since)


def high_watermark(case: Case) -> Iterator[Violation]:
    """At most the smallest log end of the ISR; never falls within a leader epoch; the last stable
    offset is at or below it.
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
        state = case.state_at(row.subject, row.at_us)
        committed = case.committed_before(row.subject, row.at_us)
        is_member = state is not None and broker in state.isr
        if state is not None and is_member and row.after < committed:
            text = (
                f"broker {broker}, in the ISR {list(state.isr)} of {row.subject}, truncated its "
                f"log{'' if row.before is None else f' from {row.before}'} to {row.after} at "
                f"{clock(row.at_us)}; committed was up to {committed}"
            )
            yield case.violation("truncation", text, row.subject, row.at_us)


def fencing(case: Case) -> Iterator[Violation]:
    """After the leader of epoch e + 1 is in office, nothing that is sent is acked at e with
    acks=all; a stale producer epoch never appends.

    The epoch of an ack is that of its record in the log. ZooKeeper holds an epoch before its leader
    knows, and until then the old one's followers may still copy: what they copy is not lost.
    """
    yield from stale_producers(case, "fencing")
    sends = case.clients.sends
    for partition, at in case.by_partition(case.is_promised):
        log = case.reference(partition)
        office = sorted((row.at_us, row.epoch or 0) for row in _taking_office(case, partition))
        if log is None or not office:
            continue
        held = at[log.values_at(sends.offset[at]) == sends.number[at]]
        stored = log.batches["epoch"][log.batches_of(sends.offset[held])]
        times = np.array([time for time, _ in office])
        epochs = np.maximum.accumulate(np.array([epoch for _, epoch in office]))
        known = np.searchsorted(times, sends.asked_us[held]) - 1
        wrong = (known >= 0) & (stored < epochs[np.maximum(known, 0)])
        if wrong.any():
            which = int(np.flatnonzero(wrong)[0])
            first = held[which]
            text = (
                f"number {sends.number[first]} was sent to {partition} at "
                f"{clock(int(sends.asked_us[first]))} and acked at epoch {stored[which]}, though "
                f"the leader of epoch {epochs[known[which]]} was in office; so were "
                f"{int(wrong.sum())} in all"
            )
            since = int(sends.asked_us[first])
            yield case.violation("fencing", text, partition, since)


def min_isr(case: Case) -> Iterator[Violation]:
    """acks=all ok means that the ISR was as large as min.insync.replicas at some moment between
    the send and its ack; NOT_ENOUGH_REPLICAS means not appended, and of
    NOT_ENOUGH_REPLICAS_AFTER_APPEND nobody knows.
    """
    sends = case.clients.sends
    for partition, at in case.by_partition(case.is_promised):
        minimum = int(case.setting(partition, "min.insync.replicas", "1"))
        for begin_us, end_us, isr in _too_small(case, partition, minimum):
            wrong = (sends.asked_us[at] > begin_us) & (sends.answered_us[at] < end_us)
            if wrong.any():
                first = at[int(np.flatnonzero(wrong)[0])]
                text = (
                    f"{int(wrong.sum())} sends to {partition} were acked while its ISR was {isr}; "
                    f"min.insync.replicas is {minimum}. The first is number {sends.number[first]}"
                )
                yield case.violation("min ISR", text, partition, begin_us)
    yield from _refused_and_there(case)


def _too_small(case: Case, partition: str, minimum: int) -> Iterator[tuple[int, int, list[int]]]:
    writes = case.states.get(partition, [])
    ends = [*(write.at_ms * 1000 for write in writes[1:]), 1 << 62][: len(writes)]
    began: int | None = None
    for write, end_us in zip(writes, ends, strict=True):
        is_small = len(write.after.isr) < minimum
        began = (write.at_ms * 1000 if began is None else began) if is_small else None
        if began is not None:
            # A write's time is a millisecond: what was acked within it may have been before.
            yield began + 1000, end_us, list(write.after.isr)


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
