"""So many mutated requests to a live cluster, and what became of it."""

from __future__ import annotations

import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from random import Random

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic
from kazoo.client import KazooClient

from logquake.client.settings import Address
from logquake.cluster.api import Cluster
from tests.fuzz.live import over_quota
from tests.fuzz.live.bystander import Bystander
from tests.fuzz.live.contents import PARTITIONS, TOPICS, World
from tests.fuzz.live.inputs import inputs
from tests.fuzz.live.strangers import Findings, Stranger
from tests.fuzz.live.vitals import Bounds, Sample, Vitals
from tests.fuzz.live.ways import TIMEOUT_S, Asker, Way, Welcome, ways

SAMPLES = 60
BETWEEN_VICTIMS = 400  # requests
# What damage makes of names must not pile up: a broker forgets them within the run.
CONFIG = {
    "auto.create.topics.enable": "false",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "offsets.retention.minutes": "1",
    "offsets.retention.check.interval.ms": "5000",
    "transactional.id.expiration.ms": "20000",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "5000",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
    "producer.id.expiration.ms": "20000",
    "group.min.session.timeout.ms": "50",
    "delegation.token.master.key": "fuzz",
    "delegation.token.expiry.check.interval.ms": "5000",
}
# A stranger may do nothing; who launched the cluster may do everything.
AUTHORIZED = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:broker;User:logquake",
}


@dataclass(frozen=True, slots=True)
class Plan:
    requests: int
    seed: int
    brokers: int = 1
    secure: bool = False
    quota: bool = False
    connections: int = 12
    bounds: Bounds = field(default_factory=Bounds)


@dataclass
class Outcome:
    findings: Findings
    complaints: list[str]
    told: list[str]

    @property
    def holds(self) -> bool:
        return not (self.complaints or self.findings.faults)

    def __str__(self) -> str:
        found = self.findings
        lines = [
            f"{found.sent} requests of {len(found.by_key)} keys: {found.answered} answered, "
            f"{found.ended} ended their connection, {found.unanswered} not answered in time, "
            f"{found.hung_up} hung up when they were told to wait",
            *self.told,
            f"UNKNOWN_SERVER_ERROR: {dict(found.unknown_errors)}",
            f"throttled: {dict(found.throttled)}",
            *(f"FAULT {count} times: {what}" for what, count in found.faults.items()),
            *(f"FAULT: {complaint}" for complaint in self.complaints),
        ]
        for what, examples in found.examples.items():
            lines += [f"  {what}: {example[:400]}" for example in examples]
        return "\n".join(lines)


def run(plan: Plan) -> Outcome:
    """Raises ClusterError where the cluster does not start."""
    extra = (AUTHORIZED if plan.secure else {}) | (over_quota.CONFIG if plan.quota else {})
    with Cluster(brokers=plan.brokers, config=CONFIG | extra, secure=plan.secure) as kafka:
        return Campaign(kafka, plan).run()


class Campaign:
    def __init__(self, kafka: Cluster, plan: Plan) -> None:
        self._kafka = kafka
        self._plan = plan
        self._random = Random(plan.seed)
        self._findings = Findings()
        self._addresses = [Address(one.host, one.port) for one in kafka.state().brokers]
        self._admin = AdminClient(dict(kafka.client_config()))
        self._world = World(_controller_epoch(kafka))

    def run(self) -> Outcome:
        bystander = Bystander(self._kafka.client_config(), min(3, self._plan.brokers))
        vitals = Vitals(self._kafka)
        began = time.monotonic()
        bystander.start()
        with ExitStack() as stack:
            strangers = self._strangers()
            for stranger in strangers:
                stack.callback(stranger.close)
            self._send_all(strangers, vitals, bystander)
        bystander.stop()
        took_s = time.monotonic() - began
        told = [
            f"{took_s:.0f} s; beside them {bystander.read} records were acked and read, "
            f"the slowest ack after {bystander.slowest_ack_s:.2f} s",
            *(_range(name, samples) for name, samples in vitals.samples.items()),
            f"journals: {dict(vitals.events())}",
        ]
        complaints = [*bystander.complaints, *vitals.complaints(self._plan.bounds)]
        return Outcome(self._findings, complaints, told)

    def _send_all(self, strangers: list[Stranger], vitals: Vitals, bystander: Bystander) -> None:
        asker = Asker(self._kafka, self._addresses[0])
        if self._plan.quota:
            over_quota.set_limits(asker.connection())
        made = inputs(self._random, asker.served(), self._world)
        each = max(1, self._plan.requests // SAMPLES)
        sample_due = victims_due = 0
        while self._findings.sent < self._plan.requests and not bystander.complaints:
            if self._findings.sent >= victims_due:
                self._restore_victims(asker)
                victims_due += BETWEEN_VICTIMS
            if self._findings.sent >= sample_due:
                vitals.take(self._findings.sent)
                sample_due += each
            for stranger in strangers:
                stranger.send(made)
            for stranger in strangers:
                stranger.collect()
        vitals.take(self._findings.sent)

    def _strangers(self) -> list[Stranger]:
        """By each way to each broker in turn; who is known sends most."""
        all_ways = list(ways(self._kafka, over_quota=self._plan.quota))
        known = [way for way in all_ways if way.welcome is not Welcome.NEVER_SURE]
        others = [way for way in all_ways if way.welcome is Welcome.NEVER_SURE]
        turns = [known[number % len(known)] for number in range(self._plan.connections)]
        return [
            self._stranger(way, self._addresses[number % len(self._addresses)])
            for number, way in enumerate([*turns, *others])
        ]

    def _stranger(self, way: Way, address: Address) -> Stranger:
        connect = partial(way.connect, address, TIMEOUT_S)
        return Stranger(connect, self._findings, way.welcome)

    def _restore_victims(self, asker: Asker) -> None:
        """They are deleted all the time; one whose deletion is under way has to wait."""
        asker.learn_topic_ids(self._world)
        if len(self._world.topic_ids) == len(TOPICS):
            return
        topics = [NewTopic(name, PARTITIONS, min(3, self._plan.brokers)) for name in TOPICS]
        for made in self._admin.create_topics(topics).values():
            with suppress(KafkaException):
                made.result(TIMEOUT_S)
        asker.learn_topic_ids(self._world)


def _range(name: str, samples: list[Sample]) -> str:
    sizes = [f"{each.resident_mib:.0f}" for each in samples[:: max(1, len(samples) // 10)]]
    return f"{name}: {' '.join(sizes)} MiB, {samples[-1].descriptors} descriptors"


def _controller_epoch(kafka: Cluster) -> int:
    znodes = KazooClient(kafka.zookeeper_connect)
    znodes.start()
    try:
        content, _ = znodes.get("/controller_epoch")
        return int(content)
    finally:
        znodes.stop()
        znodes.close()
