"""The simulated cluster with another cast: groups that commit offsets, and coordinators that die.

Faults, healing and all invariants are those of simulation.py. No records are produced; the log of
__consumer_offsets is the one that matters, and it is read from its start at every failover.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from logquake.node.metadata.topic_names import GROUP_METADATA_TOPIC
from logquake.wire.topic_partition import TopicPartition
from tests.sim.committer import Committer
from tests.sim.invariants import replayed
from tests.sim.simulation import ASSIGNMENT, TOPIC, Simulation
from tests.sim.world import Committed

GROUPS = 4
REPLICAS = {0: (2, 3, 1), 1: (3, 1, 2), 2: (1, 2, 3)}


class CommittingSimulation(Simulation):
    PROPERTIES: ClassVar[Mapping[str, str]] = {
        "offsets.topic.num.partitions": str(len(REPLICAS)),
        "offsets.commit.timeout.ms": "300",  # less than a client's patience
        "offsets.load.buffer.size": "400",  # some batches
    }

    def __init__(self, seed: int, *, keep_all: bool = False) -> None:
        super().__init__(seed, keep_all=keep_all)
        self.committers = [
            Committer(f"group-{number}", TOPIC, self.fabric, self.world, self._rng)
            for number in range(GROUPS)
        ]

    def _begin(self) -> None:
        self._create_topic(TOPIC, ASSIGNMENT)
        self._create_topic(GROUP_METADATA_TOPIC, REPLICAS)
        for committer in self.committers:
            committer.start()

    def _acked(self) -> int:
        return sum(committer.acked for committer in self.committers)

    def _heal(self) -> None:
        super()._heal()
        for committer in self.committers:
            committer.is_stopped = True

    def _is_quiet(self) -> bool:
        """Every group was told once more, by a coordinator whose log all replicas have."""
        return all(committer.is_finished for committer in self.committers) and all(
            self._is_replicated(TopicPartition(GROUP_METADATA_TOPIC, index)) for index in REPLICAS
        )

    def _is_replicated(self, partition: TopicPartition) -> bool:
        state = self.world.decisions.partitions[partition].state
        ends = {self.world.replica(broker, partition).end for broker in (1, 2, 3)}
        committed = self.world.committed.get(partition, Committed())
        return state is not None and set(state.isr) == {1, 2, 3} and ends == {committed.end}

    def _judge_the_end(self) -> None:
        self._require("replayed", replayed.__doc__, replayed(self.world))

    def _condition(self) -> str:
        untold = [each.name for each in self.committers if not each.is_finished]
        states = {
            index: self.world.decisions.partitions[TopicPartition(GROUP_METADATA_TOPIC, index)]
            for index in REPLICAS
        }
        return f"{untold} were not told; {states}"
