"""Rolling restarts under groups and transactional producers: is a commit lost, a transaction torn?

A round restarts each broker in turn, in order or by kill -9, and waits until every ISR is whole
and every group is stable again with all its members. At the end everything is read back and held
against what members and producers were told.
"""

from __future__ import annotations

import shutil
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from logquake.chaos.history.rows import Kind as HistoryKind
from logquake.chaos.history.writer import HistoryWriter
from logquake.client import Admin
from logquake.client.errors import ClientError
from logquake.cluster.api import Cluster
from logquake.cluster.errors import ClusterError
from logquake.cluster.observing.groups import STABLE, described_group
from tests.rounds.evidence import save
from tests.rounds.faults import Fault, Kind, struck
from tests.rounds.rolling.judgement import Judgement
from tests.rounds.rolling.load import FULL, Load, Size
from tests.starving.plan import Starvation
from tests.starving.starver import Starver, starving
from tests.waiting import wait_for

BROKERS = 3
HARNESS = "harness"
ASK_MS = 5_000
CONFIG = {"offsets.topic.num.partitions": "12", "transaction.state.log.num.partitions": "12"}


@dataclass(frozen=True, slots=True)
class Plan:
    rounds: int
    stable_within_s: float
    evidence: Path
    kinds: tuple[Kind, ...] = (Kind.STOP, Kind.KILL)  # of each round, in turn
    size: Size = FULL
    between_s: float = 5.0  # in which the load goes on undisturbed, before each restart
    starvation: Starvation | None = None
    config: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Outcome:
    stable_after_s: list[float] = field(default_factory=list)  # the broker was back
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        slowest = max(self.stable_after_s, default=0.0)
        told = f"{len(self.stable_after_s)} restarts; groups stable after {slowest:.1f} s at most"
        return "\n".join([told, *(self.faults or ["nothing lost, doubled or torn"])])


def run(plan: Plan) -> Outcome:
    """Raises ClusterError where the cluster does not even start."""
    outcome = Outcome()
    with ExitStack() as stack:
        kafka = stack.enter_context(Cluster(brokers=BROKERS, config={**CONFIG, **plan.config}))
        starver = None
        if plan.starvation is not None:
            supervisor = kafka.state().supervisor_pid
            starver = stack.enter_context(starving(supervisor, plan.starvation))
        histories = Path(stack.enter_context(TemporaryDirectory()))
        history = stack.enter_context(HistoryWriter(histories / f"{HARNESS}.jsonl", HARNESS))
        load = stack.enter_context(Load(kafka.bootstrap_servers, plan.size, histories))
        groups = GroupWatch(kafka.bootstrap_servers, load)
        load.create_topics()
        load.start()
        try:
            groups.wait_until_stable(plan.stable_within_s)
            for number in range(plan.rounds):
                for broker_id in range(1, BROKERS + 1):
                    fault = Fault(plan.kinds[number % len(plan.kinds)], broker_id, 0)
                    _restart(kafka, plan, fault, starver, history)
                    outcome.stable_after_s.append(groups.wait_until_stable(plan.stable_within_s))
            outcome.faults += _judged(kafka, load)
        except (ClusterError, AssertionError) as error:
            outcome.faults.append(f"restart {len(outcome.stable_after_s)}: {error}")
            load.end_producers()
            load.end_members()
        if outcome.faults:
            save(kafka, plan.evidence / "rolls", "\n".join(outcome.faults))
            shutil.copytree(histories, plan.evidence / "rolls" / "histories")
    return outcome


def _restart(
    kafka: Cluster, plan: Plan, fault: Fault, starver: Starver | None, history: HistoryWriter
) -> None:
    time.sleep(plan.between_s)
    began = time.monotonic()
    told = {"kind": fault.kind.name.lower()}
    begun = history.record(HistoryKind.FAULT_BEGUN, f"broker-{fault.broker_id}", after=told)
    with struck(kafka, fault, starver, plan.stable_within_s):
        pass
    history.record(HistoryKind.FAULT_ENDED, f"broker-{fault.broker_id}", caused_by=begun)
    for partition in kafka.view.all_partitions():
        kafka.wait_isr(partition.topic, partition.partition, BROKERS, plan.stable_within_s)
    print(f"{fault}: back in every ISR after {time.monotonic() - began:.1f} s", flush=True)


def _judged(kafka: Cluster, load: Load) -> list[str]:
    """Once the groups have taken all that there is."""
    load.end_producers()
    judgement = Judgement(kafka, load)
    try:
        wait_for("groups that have taken everything", judgement.missing, lambda left: not left)
    except AssertionError as error:
        load.failures.append(str(error))
    load.end_members()
    return list(judgement.faults())


class GroupWatch:
    """As an administrator sees them."""

    def __init__(self, servers: str, load: Load) -> None:
        self._servers = servers
        self._names = load.group_names()
        self._members = load.size.members

    def wait_until_stable(self, within_s: float) -> float:
        """How long it took. AssertionError if it took too long."""
        began = time.monotonic()
        wait_for("stable groups", self._unstable, lambda left: not left, timeout_s=within_s)
        took_s = time.monotonic() - began
        print(f"{len(self._names)} groups stable after {took_s:.1f} s", flush=True)
        return took_s

    def _unstable(self) -> list[str]:
        """By our own client: librdkafka's keeps to a coordinator that is gone, or aborts."""
        keys = {"request_timeout_ms": ASK_MS, "default_api_timeout_ms": ASK_MS}
        with Admin(bootstrap_servers=self._servers, **keys) as admin:
            return [
                f"{name} {why}" for name in self._names if (why := self._complaint(admin, name))
            ]

    def _complaint(self, admin: Admin, name: str) -> str:
        try:
            told = described_group(admin, name)
        except ClientError as error:
            return str(error)
        if told.state != STABLE or len(told.members) != self._members:
            return f"is {told.state} with {len(told.members)} members"
        return ""
