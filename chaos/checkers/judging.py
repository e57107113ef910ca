"""All invariants over one run's evidence: those that it allows to judge, and why not the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from inspect import getdoc
from itertools import islice
from time import perf_counter
from typing import NamedTuple

from logquake.chaos.checkers import (
    acked,
    decided,
    groups,
    leaders,
    liveness,
    producers,
    readers,
    replicas,
    transactions,
    values,
)
from logquake.chaos.checkers.case import Case
from logquake.chaos.checkers.demands import Demands
from logquake.chaos.checkers.verdicts import NOT_VACUOUS, Judgement, Ruling, Verdict, Violation
from logquake.chaos.evidence.evidence import Evidence

MOST_VIOLATIONS = 20  # of one invariant are told

Invariant = Callable[[Case], Iterator[Violation]]


class Need(Enum):
    """What an invariant cannot be judged without; the value says what there is none of."""

    SENDS = "sends"
    POLLS = "records that were read"
    LATE_READER = "reader that began after the last ack and ended by itself"
    LOGS = "replicas' logs"
    WRITES = "writes of ZooKeeper's"
    JOURNALS = "journals of brokers"
    LOOKS = "looks at partitions"
    GROUPS = "commits or assignments of groups"
    TRANSACTIONS = "transactions"
    ORIGINS = "records made of others"
    QUIET = "time for all to heal before the end"

    def is_met(self, case: Case) -> bool:
        return _IS_MET[self](case)


class Rule(NamedTuple):
    number: int
    name: str
    check: Invariant
    needs: tuple[Need, ...]

    @property
    def meaning(self) -> str:
        return getdoc(self.check) or ""


_IS_MET: dict[Need, Callable[[Case], bool]] = {
    Need.SENDS: lambda case: len(case.clients.sends) > 0,
    Need.POLLS: lambda case: len(case.clients.polls) > 0,
    Need.LATE_READER: lambda case: any(
        acked.late_readers(case, int(case.clients.sends.answered_us.max(initial=0)))
    ),
    Need.LOGS: lambda case: bool(case.evidence.logs),
    Need.WRITES: lambda case: bool(case.states),
    Need.JOURNALS: lambda case: bool(case.journals),
    Need.LOOKS: lambda case: bool(case.clients.looks),
    Need.GROUPS: lambda case: (
        bool(case.clients.commits) or any(row.group for row in case.clients.assignments)
    ),
    Need.TRANSACTIONS: lambda case: bool(case.clients.transactions),
    Need.ORIGINS: lambda case: bool(case.clients.origins),
    Need.QUIET: lambda case: case.evidence.is_quiet,
}

RULES: tuple[Rule, ...] = (
    Rule(1, "durable", acked.durable, (Need.SENDS, Need.LOGS, Need.WRITES, Need.QUIET)),
    Rule(2, "readable", acked.readable, (Need.SENDS, Need.LATE_READER)),
    Rule(3, "no phantom", values.no_phantom, (Need.SENDS, Need.LOGS)),
    Rule(4, "one value", values.one_value, (Need.SENDS,)),
    Rule(5, "repeatable read", values.repeatable_read, (Need.POLLS, Need.LOGS)),
    Rule(6, "idempotence", producers.idempotence, (Need.LOGS,)),
    Rule(7, "send order", producers.send_order, (Need.SENDS,)),
    Rule(8, "log matching", replicas.log_matching, (Need.LOGS, Need.QUIET)),
    Rule(9, "shape", replicas.shape, (Need.LOGS,)),
    Rule(10, "one leader per epoch", leaders.one_leader_per_epoch, (Need.WRITES, Need.JOURNALS)),
    Rule(11, "ISR completeness", leaders.isr_completeness, (Need.WRITES, Need.LOGS)),
    Rule(12, "leader completeness", leaders.leader_completeness, (Need.WRITES, Need.LOGS)),
    Rule(13, "high watermark", leaders.high_watermark, (Need.LOOKS,)),
    Rule(14, "truncation", leaders.truncation, (Need.WRITES, Need.JOURNALS, Need.SENDS)),
    Rule(15, "ISR history", decided.isr_history, (Need.WRITES,)),
    Rule(16, "one controller", decided.one_controller, (Need.WRITES,)),
    Rule(17, "incarnation", decided.incarnation, (Need.WRITES,)),
    Rule(18, "min ISR", leaders.min_isr, (Need.SENDS, Need.WRITES)),
    Rule(19, "fencing", leaders.fencing, (Need.SENDS, Need.LOGS, Need.JOURNALS)),
    Rule(20, "polls", readers.polls, (Need.POLLS,)),
    Rule(21, "groups", groups.groups, (Need.GROUPS,)),
    Rule(22, "atomic", transactions.atomic, (Need.TRANSACTIONS, Need.LOGS)),
    Rule(23, "no hang", transactions.no_hang, (Need.LOGS, Need.QUIET)),
    Rule(24, "exactly once", transactions.exactly_once, (Need.ORIGINS, Need.LOGS)),
    Rule(25, "live", liveness.live, (Need.WRITES, Need.QUIET)),
)
_VACUITY = 26


def judge(evidence: Evidence, demands: Demands | None = None) -> Judgement:
    """Every invariant in its number's order. The evidence's iterators are read once, here."""
    case = Case(evidence, demands or Demands())
    rulings = [_rule(case, rule) for rule in RULES]
    notes = (*acked.unpromised(case), *decided.unclean_elections(case))
    return Judgement((*rulings, _vacuity(case)), notes)


def _rule(case: Case, rule: Rule) -> Ruling:
    lacking = [need.value for need in rule.needs if not need.is_met(case)]
    if lacking:
        why = f"no {', no '.join(lacking)}"
        return Ruling(rule.number, rule.name, Verdict.INCONCLUSIVE, rule.meaning, why=why)
    began_s = perf_counter()
    found = tuple(islice(rule.check(case), MOST_VIOLATIONS + 1))
    return Ruling(
        rule.number,
        rule.name,
        Verdict.BROKEN if found else Verdict.HOLDS,
        rule.meaning,
        found[:MOST_VIOLATIONS],
        more=len(found) > MOST_VIOLATIONS,
        seconds=perf_counter() - began_s,
    )


def _vacuity(case: Case) -> Ruling:
    lacking = "; ".join(liveness.too_little(case))
    verdict = Verdict.INCONCLUSIVE if lacking else Verdict.HOLDS
    meaning = getdoc(liveness.too_little) or ""
    return Ruling(_VACUITY, NOT_VACUOUS, verdict, meaning, why=lacking)
