"""Three brokers and one topic that broker 1 leads; a test takes its life on step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from logquake.wire.topic_partition import TopicPartition
from logquake.zk.model_session import ModelServer
from logquake.zk.operations import Create
from logquake.zk.znodes.topics import TopicAssignment
from tests.sim.clock import Clock
from tests.sim.delays import Delays
from tests.sim.machine import Machine
from tests.sim.network import Fabric
from tests.sim.payloads import AsObjects
from tests.sim.simulation import Bystander
from tests.sim.trace import Trace
from tests.sim.world import World

PARTITION = TopicPartition("orders", 0)
REPLICAS = (1, 2, 3)
MIN_ISR = 2
CREATED_US = 500_000
BOUND_US = 60_000_000


class Cluster:
    """``keys`` are settings of the brokers; ``first`` starts so long before the others that it is
    the controller.
    """

    def __init__(self, keys: Mapping[str, str], *, first: int = 1, seed: int = 1) -> None:
        self.rng = rng = Random(seed)
        self.clock = Clock()
        self.trace = Trace(self.clock)
        self.zookeeper = ModelServer()
        self.fabric = Fabric(self.clock, Delays(rng), AsObjects())
        self.machines = {
            broker: Machine(broker, self.fabric, self.zookeeper, self.trace, rng, keys)
            for broker in REPLICAS
        }
        self.world = World(list(self.machines.values()), self.zookeeper.model, MIN_ISR)
        self.machines[first].start()
        for broker in REPLICAS:
            if broker != first:
                self.clock.at(CREATED_US // 2, f"b{broker} starts", self.machines[broker].start)
        self.clock.at(CREATED_US, "a topic is made", self._create_topic)

    def run_until_us(self, at_us: int) -> None:
        self.clock.at(at_us, "the time has come", lambda: None)
        self.run_until(lambda: self.clock.now_us >= at_us)

    def run_until(self, condition: Callable[[], bool]) -> None:
        """What never happens ends in a failure that shows the last events."""
        while not condition():
            event = self.clock.next_event()
            assert event is not None
            assert event.action is not None
            assert self.clock.now_us < BOUND_US, self.trace.text()
            self.trace.add(event.label)
            event.action()
            self.world.observe()

    def _create_topic(self) -> None:
        admin = self.zookeeper.connect(Bystander(), lambda action: action())
        assignment = TopicAssignment(bytes(15) + b"\1", {0: REPLICAS})
        admin.submit(Create(TopicAssignment.path("orders"), assignment.encode()), lambda _: None)
