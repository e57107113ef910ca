"""A run as any, whose clients are programs: producers, and a group of readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import ClassVar

from logquake.node.metadata.topic_names import GROUP_METADATA_TOPIC
from logquake.wire.topic_partition import TopicPartition
from tests.sim.programs.member import Member
from tests.sim.programs.reading import Reading
from tests.sim.simulation import HEALED_US, PARTITIONS, TOPIC, TOPIC_CREATED_US, Simulation
from tests.sim.world import Committed

GROUP = "readers"
MEMBERS = 3
MOST_MISHAPS = 3  # of a member
STRATEGIES = ("range", "roundrobin", "sticky", "cooperative-sticky")
REPLICAS = {0: (2, 3, 1)}


class ProgramsSimulation(Simulation):
    """Nobody deletes records, so that all can be judged."""

    PROPERTIES: ClassVar[Mapping[str, str]] = {
        "group.initial.rebalance.delay.ms": "50",
        "group.min.session.timeout.ms": "100",
        "offsets.topic.num.partitions": str(len(REPLICAS)),
        "offsets.commit.timeout.ms": "600",
    }

    KIND: ClassVar[type[Member]] = Member

    def __init__(self, seed: int, *, keep_all: bool = False) -> None:
        super().__init__(seed, keep_all=keep_all)
        rng = Random(f"programs {seed}")
        self.reading = Reading()
        strategy = rng.choice(STRATEGIES)
        self.members = [self._new_member(f"m{n}", strategy, rng) for n in range(MEMBERS)]
        for member in self.members:
            for _ in range(rng.randint(0, MOST_MISHAPS)):
                mishap = rng.choice(self._mishaps(member))
                at_us = rng.randint(2 * TOPIC_CREATED_US, HEALED_US)
                self.clock.at(at_us, f"{member.name} {mishap.__name__}s", mishap)
        self.producers = self.producers[:2]
        self.clients = [*self.producers, *self.consumers]

    def _new_member(self, name: str, strategy: str, rng: Random) -> Member:
        return self.KIND(name, GROUP, TOPIC, strategy, self.fabric, self.world, rng, self.reading)

    def _mishaps(self, member: Member) -> list[Callable[[], None]]:
        """What befalls one."""
        return [member.die, member.sleep]

    def _begin(self) -> None:
        super()._begin()
        self._create_topic(GROUP_METADATA_TOPIC, REPLICAS)
        for member in self.members:
            member.start()

    def _heal(self) -> None:
        super()._heal()
        for member in self.members:
            member.is_stopped = True

    def _step(self) -> None:
        super()._step()
        self._require("reading", Reading.__doc__, self.reading.take_problems())

    def _is_quiet(self) -> bool:
        return super()._is_quiet() and all(self._is_read(place) for place in PARTITIONS)

    def _is_read(self, place: TopicPartition) -> bool:
        return self.reading.up_to[place] == self.world.committed.get(place, Committed()).end

    def _condition(self) -> str:
        ends = {place: self.reading.up_to[place] for place in PARTITIONS}
        return f"{super()._condition()}\nread by the group up to {ends}"
