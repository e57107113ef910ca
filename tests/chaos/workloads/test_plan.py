from __future__ import annotations

import pytest

from logquake.chaos.workloads.__main__ import call_of
from logquake.chaos.workloads.mixed import mix_of
from logquake.chaos.workloads.plan import Option, Plan, WorkloadKind


def test_options_are_taken_as_text_or_as_what_they_are() -> None:
    plan = Plan.of("plain", "b:1", {"rate": "2.5", "keys": 3, "take_over": "false", "linger.ms": 5})
    assert (plan.rate, plan.keys, plan.take_over) == (2.5, 3, False)
    assert plan.settings == {"linger.ms": 5}


@pytest.mark.parametrize(
    ("kind", "options", "why"),
    [
        ("plane", {}, "plane"),
        ("plain", {"rat": 1}, "no workload has the option rat; there are client, seed, "),
        ("plain", {"keys": "many"}, "many"),
        ("plain", {"client": "perl"}, "perl"),
        ("impatient", {"client": "java"}, "own client"),
        ("plain", {"take_over": "maybe"}, "take_over is true or false, not maybe"),
    ],
)
def test_what_makes_no_sense_is_refused(kind: str, options: dict[str, str], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Plan.of(kind, "b:1", options)


def test_the_command_line_says_the_same() -> None:
    options: dict[str, Option] = {"rate": 2.5, "take_over": False, "group": "g", "linger.ms": "5"}
    plan = Plan.of("mover", "b:1,b:2", {**options, "client": "java"})
    arguments = [*plan.arguments(), "--history=/tmp/p.jsonl"]
    assert call_of(arguments).plan == plan


# In whose hands 3.9 can tear a transaction (KAFKA-17754).
NOT_MIXED = {WorkloadKind.MIXED, WorkloadKind.IMPATIENT}


def test_a_mix_has_every_kind_and_no_ordinal_twice() -> None:
    mixes = [Plan.of("mixed", "b:1", {"ordinal": ordinal, "rate": 7}) for ordinal in (0, 1)]
    parts = [part for mix in mixes for _, part in mix_of(mix)]
    assert {part.kind for part in parts} == set(WorkloadKind) - NOT_MIXED
    assert len({part.ordinal for part in parts}) == len(parts)
    assert {part.rate for part in parts} == {7.0}


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("plain", {"acks": "1", "idempotent": False, "transactional_id": None}),
        ("idempotent", {"acks": "all", "idempotent": True, "transactional_id": None}),
        ("mover", {"acks": "all", "transactional_id": "mover-1", "isolation": "read_committed"}),
        ("member", {"isolation": "read_committed", "client": "confluent-kafka"}),
    ],
)
def test_a_judge_is_told_what_the_client_promises(kind: str, told: dict[str, Option]) -> None:
    plan = Plan.of(kind, "b:1", {"acks": "1"})
    assert plan.told("mover-1").items() >= {"kind": kind, **told}.items()
