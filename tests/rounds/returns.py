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

from logquake.chaos.checks import check_readback
from logquake.chaos.resent import Repeated, repeated_records, resent_records
from logquake.chaos.workloads.pairs import PairProducer
from logquake.chaos.workloads.readback import read_all
from logquake.chaos.workloads.stream import RecordStream
from logquake.client.admin import Admin
from logquake.client.routing import Router
from logquake.client.settings import ClientSettings
from logquake.cluster.api import Cluster
from logquake.cluster.errors import ClusterError
from tests.rounds.evidence import save
from tests.rounds.faults import KINDS, Kind, draw, struck
from tests.rounds.spurious import Journals
from tests.starving.plan import Starvation
from tests.starving.starver import Starver, starving

TOPIC = "orders"
BROKERS = 3
PARTITIONS = 6
READ_TIMEOUT_S = 120.0


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
    repeated: list[Repeated] = field(default_factory=list)  # records that are in the log twice
    failure: str = ""

    def __str__(self) -> str:
        ordered = sorted(self.returns_s) or [0.0]
        median = ordered[len(ordered) // 2]
        counts = ", ".join(f"{what} {n}" for what, n in sorted(self.spurious.items())) or "none"
        resent = sum(each.is_resent for each in self.repeated)
        text = (
            f"{len(self.returns_s)} rounds; return median {median:.1f} s, "
            f"slowest {ordered[-1]:.1f} s; longest without an ack {self.longest_silence_s:.1f} s; "
            f"spurious: {counts}; sent twice by the client: {resent}; "
            f"{self.failure or 'all came back'}"
        )
        return "\n  twice: ".join([text, *map(str, self.repeated)])


def run(plan: Plan) -> Outcome:
    """Raises ClusterError where the cluster does not even start."""
    random = Random(plan.seed)
    outcome = Outcome()
    with ExitStack() as stack:
        kafka = stack.enter_context(Cluster(brokers=BROKERS, config=plan.config))
        _create_topic(kafka)
        producer = PairProducer(kafka.bootstrap_servers, TOPIC)
        stream = RecordStream(producer, per_second=plan.records_per_second)
        stack.enter_context(stream)
        starver = None
        if plan.starvation is not None:
            supervisor = kafka.state().supervisor_pid
            starver = stack.enter_context(starving(supervisor, plan.starvation))
        journals = Journals(kafka.layout.events)
        journals.spurious(struck=0)
        try:
            for number in range(plan.rounds):
                _round(kafka, plan, random, starver, journals, outcome, number)
        except ClusterError as error:
            outcome.failure = f"round {len(outcome.returns_s)}: {error}"
        else:
            outcome.failure = _what_is_wrong(kafka, stream, outcome)
        outcome.longest_silence_s = max(producer.acks.gaps.values(), default=0.0)
        if outcome.failure:
            save(kafka, plan.evidence / f"seed-{plan.seed}", outcome.failure)
    return outcome


def _what_is_wrong(kafka: Cluster, stream: RecordStream, outcome: Outcome) -> str:
    """Read everything back; "" if nothing that was acked is lost, doubled or out of order."""
    unanswered = stream.end(READ_TIMEOUT_S)
    records = read_all(kafka.bootstrap_servers, TOPIC, timeout_s=READ_TIMEOUT_S)
    # Every ISR is whole: any broker's files will do.
    outcome.repeated = repeated_records(kafka.layout.data_of(1), TOPIC, range(PARTITIONS))
    resent = resent_records(outcome.repeated)
    verdict = check_readback(stream.outcomes, stream.pair, records, resent)
    if verdict.holds and not unanswered:
        return ""
    unknown = stream.outcomes.unknown_reasons
    return f"{unanswered} sends unanswered, of unknown fate {unknown}; {verdict}"


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


def _create_topic(kafka: Cluster) -> None:
    with Router(ClientSettings(kafka.bootstrap_servers)) as router:
        Admin(router).create_topic(TOPIC, partitions=PARTITIONS, replication_factor=BROKERS)
