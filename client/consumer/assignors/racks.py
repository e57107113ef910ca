"""Whose rack has a replica of which partition (KIP-881)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from logquake.client.consumer.assignors.assignor import PartitionsByTopic, Subscriptions
from logquake.wire.topic_partition import TopicPartition


def racks_matter(of_members: Collection[str], of_partitions: Collection[frozenset[str]]) -> bool:
    """Whether any choice is nearer than another: not where each partition is in all racks."""
    everywhere = frozenset[str]().union(*of_partitions)
    if everywhere.isdisjoint(of_members):
        return False
    return any(racks != everywhere for racks in of_partitions)


class RackMatching:
    """Empty where racks do not matter: nothing mismatches (AbstractStickyAssignor.RackInfo)."""

    def __init__(self, partitions: PartitionsByTopic, members: Subscriptions) -> None:
        of_members = {member: said.rack for member, said in members.items() if said.rack}
        of_partitions = {
            TopicPartition(topic, number): racks
            for topic, all_racks in partitions.items()
            for number, racks in enumerate(all_racks)
        }
        if not racks_matter(of_members.values(), of_partitions.values()):
            of_members, of_partitions = {}, {}
        self._of_members = of_members
        self._of_partitions = of_partitions

    def __bool__(self) -> bool:
        return bool(self._of_members)

    def matches(self, member: str, place: TopicPartition) -> bool:
        """Whether the member has a rack, and a replica is in it."""
        rack = self._of_members.get(member)
        return rack is not None and rack in self._of_partitions.get(place, ())

    def mismatches(self, member: str, place: TopicPartition) -> bool:
        return member in self._of_members and not self.matches(member, place)

    def hardest_first(self, places: Sequence[TopicPartition]) -> list[TopicPartition]:
        """Those first that the fewest members are near to."""
        if not self:
            return list(places)
        racks = list(self._of_members.values())
        near = {
            place: sum(rack in self._of_partitions[place] for rack in racks) for place in places
        }
        return sorted(places, key=near.__getitem__)

    def next_near(self, place: TopicPartition, circle: Sequence[str], first: int) -> int | None:
        """The index of the first member, from `first` and around, whose rack has a replica."""
        for step in range(len(circle)):
            index = (first + step) % len(circle)
            if self.matches(circle[index], place):
                return index
        return None
