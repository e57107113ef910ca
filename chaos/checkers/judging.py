"""All invariants over one run's evidence: those that it allows to judge, and why not the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from inspect import getdoc
from itertools import islice
from time import process_time
from typing import Any, NamedTuple

from logquake.chaos.checkers import (
    acked,
    acking,
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
    HEALED = "end of all faults before the end"
    QUIET = "time for all to heal before the end"

    def is_met(self, case: Case) -> bool:
        return _IS_MET[self](case)


class Across(NamedTuple):
    """How an invariant is judged of which no share of the partitions tells the whole."""

    within: Invariant | None  # what a share tells by itself
    survey: Callable[[Case], Any]  # what it adds to the rest
    conclude: Callable[[Case, Sequence[Any]], Iterator[Violation]]


class Rule(NamedTuple):
    number: int
    name: str
    check: Invariant
    needs: tuple[Need, ...]
    across: Across | None = None

    @property
    def within(self) -> Invariant | None:
        return self.check if self.across is None else self.across.within

    @property
    def meaning(self) -> str:
        return getdoc(self.check) or ""


_IS_MET: dict[Need, Callable[[Case], bool]] = {
    Need.SENDS: lambda case: len(case.clients.sends) > 0,
    Need.POLLS: lambda case: len(case.clients.polls) > 0,
    Need.LATE_READER: lambda case: bool(acked.late_readers(case)),
    Need.LOGS: lambda case: bool(case.evidence.logs),
    Need.WRITES: lambda case: bool(case.states),
    Need.JOURNALS: lambda case: bool(case.journals),
    Need.LOOKS: lambda case: bool(case.clients.looks),
    Need.GROUPS: lambda case: (
        bool(case.clients.commits) or any(row.group for row in case.clients.assignments)
    ),
    Need.TRANSACTIONS: lambda case: bool(case.clients.transactions),
    Need.ORIGINS: lambda case: bool((case.clients.sends.source >= 0).any()),
    Need.HEALED: lambda case: case.evidence.is_healed,
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
    Rule(18, "min ISR", acking.min_isr, (Need.SENDS, Need.WRITES)),
    Rule(19, "fencing", acking.fencing, (Need.SENDS, Need.LOGS, Need.JOURNALS)),
    Rule(20, "polls", readers.polls, (Need.POLLS,)),
    Rule(21, "groups", groups.groups, (Need.GROUPS,)),
    Rule(
        22,
        "atomic",
        transactions.atomic,
        (Need.TRANSACTIONS, Need.LOGS),
        Across(transactions.aborted_reads, transactions.fates_seen, transactions.torn),
    ),
    Rule(23, "no hang", transactions.no_hang, (Need.LOGS, Need.QUIET)),
    Rule(
        24,
        "exactly once",
        transactions.exactly_once,
        (Need.ORIGINS, Need.LOGS),
        Across(None, transactions.moved, transactions.not_once),
    ),
    Rule(25, "live", liveness.live, (Need.WRITES, Need.HEALED)),
)
_VACUITY = 26


@dataclass(frozen=True, slots=True)
class Survey:
    """What one share of the partitions tells; the dictionaries are by the rules' numbers."""

    met: frozenset[Need]
    violations: Mapping[int, tuple[Violation, ...]]
    seconds: Mapping[int, float]
    across: Mapping[int, Any]
    acked_under_fault: int
    notes: tuple[Violation, ...]


def judge(evidence: Evidence, demands: Demands | None = None) -> Judgement:
    """Every invariant in its number's order. The evidence's iterators are read once, here."""
    case = Case(evidence, demands or Demands())
    return conclude(case, [survey(case)])


def survey(case: Case) -> Survey:
    """All that is in the case's share, whether or not there is what it takes to judge it."""
    met = frozenset(need for need in Need if need.is_met(case))
    found = {rule.number: _within(case, rule) for rule in RULES}
    return Survey(
        met=met,
        violations={number: each.violations for number, each in found.items()},
        seconds={number: each.seconds for number, each in found.items()},
        across={number: each.across for number, each in found.items()},
        acked_under_fault=liveness.acked_under_fault(case),
        notes=(*acked.unpromised(case), *decided.unclean_elections(case)),
    )


def conclude(case: Case, surveys: Sequence[Survey]) -> Judgement:
    """Of the surveys of all shares; the case needs no rows that are about one partition alone."""
    rulings = [_rule(case, rule, surveys) for rule in RULES]
    notes = tuple(dict.fromkeys(note for survey in surveys for note in survey.notes))
    under_fault = sum(survey.acked_under_fault for survey in surveys)
    return Judgement((*rulings, _vacuity(case, under_fault)), notes)


class _Found(NamedTuple):
    violations: tuple[Violation, ...]
    across: Any
    seconds: float


def _within(case: Case, rule: Rule) -> _Found:
    began_s = process_time()
    found = rule.within(case) if rule.within is not None else iter(())
    violations = tuple(islice(found, MOST_VIOLATIONS + 1))
    across = rule.across.survey(case) if rule.across is not None else None
    return _Found(violations, across, process_time() - began_s)


def _rule(case: Case, rule: Rule, surveys: Sequence[Survey]) -> Ruling:
    lacking = [need for need in rule.needs if not any(need in each.met for each in surveys)]
    if lacking:
        why = f"no {', no '.join(need.value for need in lacking)}"
        return Ruling(rule.number, rule.name, Verdict.INCONCLUSIVE, rule.meaning, why=why)
    found = _violations(case, rule, surveys)
    return Ruling(
        rule.number,
        rule.name,
        Verdict.BROKEN if found else Verdict.HOLDS,
        rule.meaning,
        found[:MOST_VIOLATIONS],
        more=len(found) > MOST_VIOLATIONS,
        seconds=sum(survey.seconds[rule.number] for survey in surveys),
    )


def _violations(case: Case, rule: Rule, surveys: Sequence[Survey]) -> tuple[Violation, ...]:
    """What is not about one partition alone every share has found: once is enough."""
    found = [violation for survey in surveys for violation in survey.violations[rule.number]]
    if rule.across is not None:
        found += rule.across.conclude(case, [survey.across[rule.number] for survey in surveys])
    return tuple(dict.fromkeys(found))


def _vacuity(case: Case, under_fault: int) -> Ruling:
    lacking = "; ".join(liveness.too_little(case, under_fault))
    verdict = Verdict.INCONCLUSIVE if lacking else Verdict.HOLDS
    meaning = getdoc(liveness.too_little) or ""
    return Ruling(_VACUITY, NOT_VACUOUS, verdict, meaning, why=lacking)
