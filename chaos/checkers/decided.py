"""What ZooKeeper's writes say by themselves: ISRs, controllers, registrations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from logquake.chaos.checkers.case import Case
from logquake.chaos.checkers.committed import committed_before
from logquake.chaos.checkers.sentences import clock
from logquake.chaos.checkers.transitions import (
    is_of_earlier_controller,
    problems_of_epoch,
    problems_of_state,
)
from logquake.chaos.checkers.verdicts import Violation
from logquake.chaos.evidence.decisions import EpochWrite, Registration, StateWrite
from logquake.wire.topic_partition import TopicPartition


def isr_history(case: Case) -> Iterator[Violation]:
    """Leader in ISR, ISR within replicas; version + 1 a write; a leader change bumps the epoch; a
    new leader comes from the previous ISR, unless the topic allows an unclean election.
    """
    for partition, writes in case.states.items():
        allows = case.setting(partition, "unclean.leader.election.enable", "false") == "true"
        for write in writes:
            problems = list(problems_of_state(write))
            if write.is_unclean and not allows:
                problems.append("the new leader was not in the ISR")
            for problem in problems:
                text = f"{partition}, zxid {write.zxid:#x}: {problem}: {_moved(write)}"
                yield case.violation("ISR history", text, partition, write.at_ms * 1000)


def unclean_elections(case: Case) -> Iterator[Violation]:
    """What unclean elections that are allowed have cost: the committed offsets that went."""
    for partition, writes in case.states.items():
        log = case.reference(partition)
        for write in writes:
            if log is not None and write.is_unclean:
                begins = log.first_of_epoch(write.after.leader_epoch)
                committed = committed_before(case, partition, write.at_ms * 1000)
                lost = f"offsets {begins} to {committed - 1} of what was committed went"
                text = f"broker {write.after.leader} was elected unclean for {partition}; "
                text += lost if begins < committed else "nothing of what was committed went"
                yield case.violation("unclean election", text, partition, write.at_ms * 1000)


def one_controller(case: Case) -> Iterator[Violation]:
    """Controller epochs strictly increase, one owner each; no applied write carries an older
    epoch.
    """
    owners: dict[int, int] = {}
    for decision in case.decisions:
        if isinstance(decision, EpochWrite):
            for problem in problems_of_epoch(decision, owners):
                text = f"{problem}: {decision.before} to {decision.after}"
                yield Violation("one controller", f"{text} at {clock(decision.at_ms * 1000)}")
        elif isinstance(decision, StateWrite) and is_of_earlier_controller(decision):
            partition = str(decision.partition)
            text = (
                f"zxid {decision.zxid:#x} wrote {partition} for controller epoch "
                f"{decision.after.controller_epoch}, when {decision.controller_epoch} was in office"
            )
            yield case.violation("one controller", text, partition, decision.at_ms * 1000)


def incarnation(case: Case) -> Iterator[Violation]:
    """Whoever enters an ISR is registered, and its leader proposed it since (KIP-903's check).

    A proposal from before the registration is about a log that may be gone. A controller learns of
    registrations by watches: one that it drops again by the partition's next write had entered
    before it could know.
    """
    dropped = _dropped_at_once(case)
    registered: dict[int, Registration] = {}
    for decision in case.decisions:
        if isinstance(decision, Registration):
            registered[decision.broker] = decision
        elif isinstance(decision, StateWrite) and decision.before is not None:
            for broker in set(decision.after.isr) - set(decision.before.isr):
                if decision.is_unclean and broker == decision.after.leader:
                    continue
                if (decision.zxid, decision.partition, broker) not in dropped:
                    yield from _entered(case, decision, broker, registered.get(broker))


def _dropped_at_once(case: Case) -> set[tuple[int, TopicPartition, int]]:
    """Who entered an ISR with which write, and was taken out by the controller with the next one:
    it raises the epoch then, and leaders that ask for a smaller ISR do not.
    """
    return {
        (write.zxid, write.partition, broker)
        for writes in case.all_states.values()
        for write, following in pairwise(writes)
        if following.after.leader_epoch > write.after.leader_epoch
        for broker in set(write.after.isr) - set(following.after.isr)
    }


def _entered(
    case: Case, write: StateWrite, broker: int, registration: Registration | None
) -> Iterator[Violation]:
    partition = str(write.partition)
    if registration is None or not registration.is_there:
        text = f"broker {broker} entered the ISR of {partition}, and was not registered"
        yield case.violation("incarnation", text, partition, write.at_ms * 1000)
        return
    asked_us = _proposed_us(case, write, broker)
    if asked_us is not None and asked_us < registration.at_ms * 1000:
        text = (
            f"broker {broker} entered the ISR of {partition} by what its leader proposed at "
            f"{clock(asked_us)}; it registered anew at {clock(registration.at_ms * 1000)}"
        )
        yield case.violation("incarnation", text, partition, asked_us)


def _proposed_us(case: Case, write: StateWrite, broker: int) -> int | None:
    """When the leader of that epoch last proposed the broker, before the write."""
    times = [
        row.at_us
        for row in case.events_of(str(write.partition))
        if row.what == "isr-proposed"
        and row.epoch == write.after.leader_epoch
        and broker in (row.after or ())
        and broker not in (row.before or ())
        and row.at_us // 1000 <= write.at_ms
    ]
    return max(times, default=None)


def _moved(write: StateWrite) -> str:
    after = write.after
    now = f"leader {after.leader}, epoch {after.leader_epoch}, ISR {list(after.isr)}"
    if write.before is None:
        return now
    before = write.before
    return f"{now} after leader {before.leader}, epoch {before.leader_epoch}, {list(before.isr)}"
