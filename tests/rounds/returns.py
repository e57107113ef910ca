"""Rounds of random faults under a steady load: does every broker return to every ISR?

A round strikes one broker, undoes it after a while, and waits until each partition's ISR is whole
again. A broker that is not back in time is evidence, and ends the run: what comes after it would
only blur it.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from logquake.chaos.workloads.processes import WorkloadFailed
from logquake.cluster.api import Cluster
from logquake.cluster.errors import ClusterError
from tests.rounds.evidence import save
from tests.rounds.faults import KINDS, Kind, draw, struck
from tests.rounds.spurious import Journals
from tests.starving.plan import Starvation
from tests.starving.starver import Starver, starving
from tests.steady_load import SteadyLoad, steady_load

TOPIC = "orders"
BROKERS = 3
PARTITIONS = 6


@dataclass(frozen=True, slots=True)
class Plan:
    seed: int
    rounds: int
    return_timeout_s: float
    evidence: Path
    starvation: Starvation | None = None
    kinds: tuple[Kind, ...] = KINDS
    records_per_second: int = 200
    config: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Outcome:
    returns_s: list[float] = field(default_factory=list)
    spurious: Counter[str] = field(default_factory=Counter)
    longest_silence_s: float = 0.0  # between two acks of one partition
    resent: int = 0  # records that are in the log twice: the client sent them anew
    failure: str = ""

    def __str__(self) -> str:
        ordered = sorted(self.returns_s) or [0.0]
        median = ordered[len(ordered) // 2]
        counts = ", ".join(f"{what} {n}" for what, n in sorted(self.spurious.items())) or "none"
        return (
            f"{len(self.returns_s)} rounds; return median {median:.1f} s, "
            f"slowest {ordered[-1]:.1f} s; longest without an ack {self.longest_silence_s:.1f} s; "
            f"spurious: {counts}; sent twice by the client: {self.resent}; "
            f"{self.failure or 'all came back'}"
        )


def run(plan: Plan) -> Outcome:
    """Raises ClusterError where the cluster does not even start."""
    random = Random(plan.seed)
    outcome = Outcome()
    with ExitStack() as stack:
        kafka = stack.enter_context(Cluster(brokers=BROKERS, config=plan.config))
        kafka.create_topic(TOPIC, partitions=PARTITIONS, replication_factor=BROKERS)
        starver = None
        if plan.starvation is not None:
            supervisor = kafka.state().supervisor_pid
            starver = stack.enter_context(starving(supervisor, plan.starvation))
        journals = Journals(kafka.layout.events)
        journals.spurious(struck=0)
        try:
            with steady_load(kafka, TOPIC, rate=plan.records_per_second) as load:
                for number in range(plan.rounds):
                    _round(kafka, plan, random, starver, journals, outcome, number)
        except (ClusterError, WorkloadFailed) as error:
            outcome.failure = f"round {len(outcome.returns_s)}: {error}"
        else:
            _judge(load, outcome)
        if outcome.failure:
            save(kafka, plan.evidence / f"seed-{plan.seed}", outcome.failure)
    return outcome


def _judge(load: SteadyLoad, outcome: Outcome) -> None:
    """Every ISR is whole: all of it is read back, and judged by all that was left behind."""
    try:
        load.check_everything()
    except AssertionError as error:
        outcome.failure = str(error)
    outcome.resent = load.doubled()
    outcome.longest_silence_s = load.longest_silence_s()


def _round(
    kafka: Cluster,
    plan: Plan,
    random: Random,
    starver: Starver | None,
    journals: Journals,
    outcome: Outcome,
    number: int,
) -> None:
    fault = draw(random, BROKERS, plan.kinds)
    with struck(kafka, fault, starver, plan.return_timeout_s):
        time.sleep(fault.lasts_s)
        undone = time.monotonic()
    _wait_for_all(kafka, undone + plan.return_timeout_s)
    took_s = time.monotonic() - undone
    spurious = journals.spurious(struck=fault.broker_id)
    outcome.returns_s.append(took_s)
    outcome.spurious += spurious
    print(f"{number}: {fault}: back after {took_s:.2f} s {dict(spurious) or ''}", flush=True)


def _wait_for_all(kafka: Cluster, deadline: float) -> None:
    """Until every ISR is whole. Raises ClusterError."""
    for partition in range(PARTITIONS):
        kafka.wait_isr(TOPIC, partition, BROKERS, max(0.1, deadline - time.monotonic()))
