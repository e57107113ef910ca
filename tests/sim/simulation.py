"""One run of a cluster of three from a seed: boot, faults under load, healing, quiescence.

The same broker, controller and storage as in real processes, over virtual time, a network with
random delays, disks in memory and the model of ZooKeeper. After every event the invariants are
checked. All randomness comes from the seed, so that a run can be repeated exactly.
"""

from __future__ import annotations

import gc
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import ClassVar, NoReturn, Protocol

from logquake.wire.topic_partition import TopicPartition
from logquake.zk.model_session import ModelServer, ModelSession
from logquake.zk.operations import Create, WatchEvent
from logquake.zk.znodes.topics import TopicAssignment
from tests.sim.clients import CarelessProducer, Consumer
from tests.sim.clock import Action, Clock
from tests.sim.delays import Delays
from tests.sim.deleter import Deleter
from tests.sim.faults import Faults
from tests.sim.invariants import EVERY_EVENT, Invariant, durable, no_phantom, readable
from tests.sim.machine import Machine
from tests.sim.network import Fabric
from tests.sim.payloads import AsObjects, ThroughTheCodec
from tests.sim.programs.producing import ProducingProgram
from tests.sim.programs.promises import PROMISES, written_once
from tests.sim.topic_maker import TopicMaker
from tests.sim.trace import SHOWN, Trace
from tests.sim.world import Committed, World

TOPIC = "orders"
PARTITIONS = (TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1))
ASSIGNMENT = {0: (1, 2, 3), 1: (2, 3, 1)}
MIN_ISR = 2
PRODUCERS = 3

TOPIC_CREATED_US = 400_000
HEALED_US = 6_500_000
BOUND_US = 15_000_000  # after healing: sessions, elections, catching up
CODEC_SHARE = 0.1
WAITING_SHARE = 0.3  # of the runs in which a session's end is waited for, as in Kafka


class SimulationFailure(AssertionError):  # noqa: N818 - a failure of what is tested
    """An invariant does not hold. The text has the seed, the statement and the last events."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run was made of, so that nobody takes an idle run for a proof."""

    events: int
    acked: int
    acked_under_fault: int
    polled: int
    counts: Counter[str]


class Starting(Protocol):
    def start(self) -> None:
        """Begin; what is repeated goes on by itself."""


class Bystander:
    """Somebody else's ZooKeeper session."""

    def on_connected(self, session_id: int) -> None: ...

    def on_disconnected(self) -> None: ...

    def on_expired(self) -> None: ...

    def on_watch(self, event: WatchEvent) -> None: ...


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """A run makes few cycles of garbage: looking for them again and again costs a twentieth."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class Simulation:
    """``through_codec`` passes messages as bytes; by default a share of the seeds does.

    ``PROPERTIES`` are settings of the brokers, for who derives another cast of clients from it.
    """

    PROPERTIES: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self, seed: int, *, keep_all: bool = False, through_codec: bool | None = None
    ) -> None:
        self.seed = seed
        rng = Random(seed)
        self.clock = Clock()
        self.trace = Trace(self.clock, keep_all=keep_all)
        drawn = rng.random() < CODEC_SHARE
        as_bytes = drawn if through_codec is None else through_codec
        payloads = ThroughTheCodec() if as_bytes else AsObjects()
        self.fabric = fabric = Fabric(self.clock, Delays(rng), payloads)
        self._zookeeper = ModelServer()
        waiting = rng.random() < WAITING_SHARE
        properties = {"logquake.failover.on.refusal": "false"} if waiting else {}
        properties |= self.PROPERTIES
        self.machines = [
            Machine(broker, fabric, self._zookeeper, self.trace, rng, properties)
            for broker in (1, 2, 3)
        ]
        self._admin: ModelSession = self._zookeeper.connect(Bystander(), lambda action: action())
        self.world = World(self.machines, self._zookeeper.model, MIN_ISR)
        self.producers = [
            ProducingProgram(f"p{index}", PARTITIONS, fabric, self.world, rng)
            for index in range(PRODUCERS)
        ]
        self.careless = CarelessProducer("careless", PARTITIONS[0], fabric, self.world, rng)
        self.consumers = [
            Consumer(f"c{partition.partition}", partition, fabric, self.world, rng)
            for partition in PARTITIONS
        ]
        self.deleters = [
            Deleter(f"d{partition.partition}", partition, fabric, self.world, rng)
            for partition in PARTITIONS
        ]
        self.maker = TopicMaker("maker", fabric, self.world, rng)
        self.clients: Sequence[Starting] = [
            *self.producers,
            self.careless,
            *self.consumers,
            *self.deleters,
            self.maker,
        ]
        self.world.decisions.menders.add(self._admin.session_id)
        self._faults = Faults(
            fabric, self.machines, self._zookeeper, self._admin, self.world, self.trace, rng
        )
        self._faults.plan(rng.randint(3, 9))
        self._rng = rng
        self.invariants: dict[Invariant, Sequence[str]] = {**EVERY_EVENT, **PROMISES}
        self._concerned: dict[tuple[str, ...], list[Invariant]] = {}
        self.events = 0
        self._acked_before_faults: int | None = None
        self._acked_by_healing = 0

    def run(self) -> Summary:
        """Raises SimulationFailure."""
        with _collector_at_rest():
            return self._run()

    def _run(self) -> Summary:
        for machine in self.machines:
            machine.start()
        self.clock.at(TOPIC_CREATED_US, "a topic is made", self._begin)
        self.clock.at(HEALED_US, "all is healed", self._heal)
        while self.clock.now_us < HEALED_US or not self._is_quiet():
            self._step()
            if self.clock.now_us > HEALED_US + BOUND_US:
                self._fail("live", "the cluster did not recover in time", self._condition())
        self._judge_the_end()
        return Summary(
            events=self.events,
            acked=self._acked(),
            acked_under_fault=self._acked_by_healing - (self._acked_before_faults or 0),
            polled=sum(len(consumer.polled) for consumer in self.consumers),
            counts=self.trace.counts,
        )

    def _step(self) -> None:
        """Let one event happen, and judge what it changed."""
        event = self.clock.next_event()
        if event is None or event.action is None:
            self._fail("live", "something always happens", "no event is left")
        self.events += 1
        self.trace.add(event.label)
        self._perform(event.action)
        if self._acked_before_faults is None and self.trace.counts["fault"]:
            self._acked_before_faults = self._acked()
        step = self.world.observe()
        if step is not None:
            for invariant in self._concerned_by(step.changed):
                self._require(invariant.__name__, invariant.__doc__, invariant(self.world, step))

    def _concerned_by(self, changed: tuple[str, ...]) -> list[Invariant]:
        """Those that look at any of these fields of a step."""
        found = self._concerned.get(changed)
        if found is None:
            found = [each for each, looks in self.invariants.items() if {*looks} & {*changed}]
            self._concerned[changed] = found
        return found

    def _perform(self, action: Action) -> None:
        try:
            action()
        except Exception as error:  # noqa: BLE001 - whatever a broker raises is what we look for
            where = "".join(traceback.format_exception(error))
            self._fail("no_crash", "A broker ends only when it is killed.", where)

    def _acked(self) -> int:
        return sum(len(producer.acked) for producer in self.producers)

    def _begin(self) -> None:
        self._create_topic(TOPIC, ASSIGNMENT)
        for client in self.clients:
            client.start()

    def _create_topic(self, name: str, replicas: Mapping[int, tuple[int, ...]]) -> None:
        topic_id = Random(f"{self.seed} {name}").randbytes(16)
        assignment = TopicAssignment(topic_id, replicas)
        create = Create(TopicAssignment.path(name), assignment.encode())
        self._admin.submit(create, lambda _outcome: None)

    def _heal(self) -> None:
        self._acked_by_healing = self._acked()
        self._faults.heal()
        for client in (self.careless, *self.deleters, self.maker):
            client.is_stopped = True
        for producer in self.producers:
            producer.finish()

    def _is_quiet(self) -> bool:
        """Everything sent was answered, every replica has everything from where its leader's log
        starts, and everything was read.
        """
        return all(producer.is_finished for producer in self.producers) and all(
            self._is_whole(partition) for partition in PARTITIONS
        )

    def _is_whole(self, partition: TopicPartition) -> bool:
        state = self.world.decisions.partitions[partition].state
        committed = self.world.committed.get(partition)
        if state is None or committed is None or set(state.isr) != {1, 2, 3}:
            return False
        replicas = [self.world.replica(broker, partition) for broker in (1, 2, 3)]
        start = self.world.replica(state.leader, partition).start
        return (
            {replica.end for replica in replicas} == {committed.end}
            and min(replica.start for replica in replicas) == start
            and self.consumers[partition[1]].position == committed.end
        )

    def _judge_the_end(self) -> None:
        acked = [ack for producer in self.producers for ack in producer.acked]
        polled = [poll for consumer in self.consumers for poll in consumer.polled]
        sent = self._sent()
        self._require("durable", durable.__doc__, durable(self.world, acked))
        skipped = [skip for consumer in self.consumers for skip in consumer.skipped]
        self._require("readable", readable.__doc__, readable(self.world, polled, skipped))
        self._require("written_once", written_once.__doc__, written_once(self.world))
        self._require("no_phantom", no_phantom.__doc__, no_phantom(self.world, sent))

    def _sent(self) -> set[int]:
        """The values of all batches that clients meant to append."""
        return self.careless.sent.union(*(producer.sent for producer in self.producers))

    def _require(self, name: str, statement: str | None, problems: Iterator[str]) -> None:
        problem = next(problems, None)
        if problem is not None:
            self._fail(name, statement or "", problem)

    def _fail(self, name: str, statement: str, problem: str) -> NoReturn:
        raise SimulationFailure(
            f"seed {self.seed}, event {self.events}: {name} does not hold\n"
            f"{' '.join(statement.split())}\n{problem}\nThe last events:\n{self.trace.text(SHOWN)}"
        )

    def _condition(self) -> str:
        """What is not as it should be, for a run that does not end."""
        lines = [f"{p.name} has an open send" for p in self.producers if not p.is_finished]
        lines += [f"{m.host.name} refused: {m.refusal}" for m in self.machines if m.refusal]
        for partition in PARTITIONS:
            replicas = {broker: self.world.replica(broker, partition) for broker in (1, 2, 3)}
            logs = {broker: (each.start, each.end) for broker, each in replicas.items()}
            state = self.world.decisions.partitions[partition].state
            lines.append(
                f"{partition}: {state}, logs (start, end) {logs}, "
                f"committed {self.world.committed.get(partition, Committed()).end}, "
                f"read {self.consumers[partition[1]].position}"
            )
        return "\n".join(lines)
