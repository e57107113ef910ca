"""It goes on after all is healed; and enough happened before for the rest to mean something."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from logquake.chaos.checkers.case import Case, has_leader
from logquake.chaos.checkers.sentences import clock
from logquake.chaos.checkers.verdicts import Violation
from logquake.chaos.history.outcomes import Outcome
from logquake.chaos.history.rows import Kind

_TAKEN_BACK = ("_PURGE_", "TransactionAborted")  # librdkafka's names, and the Java client's


def live(case: Case) -> Iterator[Violation]:
    """Within a bound after healing there is a leader everywhere, the ISR is all replicas, and
    sends succeed; every send of a process that ended has an outcome.
    """
    for partition, (replicas, state) in sorted(case.final.items()):
        if not has_leader(state):
            text = f"{partition} has no leader, its ISR is {list(state.isr)}"
            yield case.violation("live", text, partition)
        elif set(state.isr) != set(replicas):
            text = f"the ISR of {partition} is {list(state.isr)}, its replicas {list(replicas)}"
            yield case.violation("live", text, partition)
    yield from _failing(case)
    yield from _unanswered(case)


def _failing(case: Case) -> Iterator[Violation]:
    sends = case.clients.sends
    healed = max((r.at_us for r in case.clients.faults if r.what == Kind.FAULT_ENDED), default=0)
    late = (sends.asked_us > healed + case.demands.recovery_us) & (sends.answered_us >= 0)
    failing = late & (sends.outcome != int(Outcome.ACKED)) & ~case.is_of_deleted
    for partition, failed in case.by_partition(failing):
        at = [each for each in failed.tolist() if not _is_taken_back(case, each)]
        if not at:
            continue
        first = at[0]
        why = case.clients.reasons.get(int(sends.number[first]), "without a reason")
        text = (
            f"{len(at)} sends to {partition} failed though all was healed at {clock(healed)}; the "
            f"first at {clock(int(sends.asked_us[first]))}, {why}"
        )
        yield case.violation("live", text, partition, healed)


def _is_taken_back(case: Case, send: int) -> bool:
    """Whether the client itself gave it up: what an aborted, or a fenced, transaction left."""
    reason = case.clients.reasons.get(int(case.clients.sends.number[send]), "")
    return reason.startswith(_TAKEN_BACK)


def _unanswered(case: Case) -> Iterator[Violation]:
    clients = case.clients
    ended = np.array([name in clients.ended for name in clients.processes.all], np.bool_)
    if not len(ended):
        return
    open_ = ended[clients.sends.process] & (clients.sends.answered_us < 0)
    for partition, at in case.by_partition(open_):
        text = f"{len(at)} sends to {partition} never had an outcome, of processes that ended"
        yield case.violation("live", text, partition, int(clients.sends.asked_us[at[0]]))


def too_little(case: Case, acked: int | None = None) -> Iterator[str]:
    """What a run must have shown, or it shows nothing: enough acked under faults, elections,
    truncations.
    """
    demands = case.demands
    elections = sum(
        write.before is not None and write.elects and has_leader(write.after)
        for writes in case.all_states.values()
        for write in writes
    )
    truncations = sum(row.what == "log-truncated" for row in case.journals)
    for what, count, wanted in (
        (
            "sends acked under a fault",
            acked_under_fault(case) if acked is None else acked,
            demands.acked_under_fault,
        ),
        ("elections", elections, demands.elections),
        ("truncations", truncations, demands.truncations),
    ):
        if count < wanted:
            yield f"{count} {what}, of {wanted} that a run must have"


def acked_under_fault(case: Case) -> int:
    answered = np.sort(case.clients.sends.answered_us[case.is_acked])
    begun = {r.sequence: r for r in case.clients.faults if r.what == Kind.FAULT_BEGUN}
    ended = {r.caused_by: r.at_us for r in case.clients.faults if r.what == Kind.FAULT_ENDED}
    under = np.zeros(len(answered), np.bool_)
    for sequence, row in begun.items():
        end_us = ended.get(sequence, case.clients.last_us + 1)
        under[np.searchsorted(answered, row.at_us) : np.searchsorted(answered, end_us)] = True
    return int(under.sum())
