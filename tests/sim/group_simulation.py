"""A run as any, in which besides a group of consumers shares the partitions that are written to.

Its coordinator is killed, cut off and succeeded like any leader; its members sleep and die. At the
end the group is whole again, and has read and committed everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import ClassVar

from logquake.wire.topic_partition import TopicPartition
from tests.sim.group_history import GroupHistory
from tests.sim.group_members import COORDINATED_BY, GroupMember
from tests.sim.simulation import HEALED_US, PARTITIONS, TOPIC_CREATED_US, Simulation
from tests.sim.world import Committed

MEMBERS = 3
MOST_MISHAPS = 3  # of a member
REPLICAS = {COORDINATED_BY.partition: (2, 3, 1)}


class GroupSimulation(Simulation):
    PROPERTIES: ClassVar[Mapping[str, str]] = {
        "group.initial.rebalance.delay.ms": "50",
        "group.min.session.timeout.ms": "100",
        "offsets.topic.num.partitions": str(len(REPLICAS)),
        "offsets.commit.timeout.ms": "600",  # less than a client's patience
    }

    def __init__(self, seed: int, *, keep_all: bool = False) -> None:
        super().__init__(seed, keep_all=keep_all)
        rng = Random(f"{seed} group")
        self.history = GroupHistory()
        self._problems: list[str] = []
        self.members = [
            GroupMember(
                f"m{number}", PARTITIONS, self.fabric, self.world, rng, self.history, self._note
            )
            for number in range(MEMBERS)
        ]
        for member in self.members:
            for _ in range(rng.randint(0, MOST_MISHAPS)):
                mishap = rng.choice([member.die, member.sleep])
                at_us = rng.randint(2 * TOPIC_CREATED_US, HEALED_US)
                self.clock.at(at_us, f"{member.name} {mishap.__name__}s", mishap)

    def _begin(self) -> None:
        super()._begin()
        self._create_topic(COORDINATED_BY.topic, REPLICAS)
        for member in self.members:
            member.start()

    def _note(self, problems: Iterator[str]) -> None:
        self._problems += problems

    def _step(self) -> None:
        super()._step()
        self._require("groups", GroupHistory.__doc__, iter(self._problems))

    def _is_quiet(self) -> bool:
        """Besides, each partition has one owner, in one generation, which has committed all."""
        owners = [(member, each) for member in self.members for each in member.owned]
        return (
            super()._is_quiet()
            and len({member.generation for member in self.members}) == 1
            and sorted(partition for _, partition in owners) == sorted(PARTITIONS)
            and all(
                self.history.last_acked(partition) == (member.generation, self._end(partition))
                for member, partition in owners
            )
        )

    def _end(self, partition: TopicPartition) -> int:
        return self.world.committed.get(partition, Committed()).end

    def _condition(self) -> str:
        members = [
            f"{each.name} is {each.member_id!r} of generation {each.generation}, owns {each.owned}"
            for each in self.members
        ]
        acked = [f"{each}: {self.history.last_acked(each)} is acked" for each in PARTITIONS]
        return "\n".join([super()._condition(), *members, *acked])
