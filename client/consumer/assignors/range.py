"""Kafka's RangeAssignor: of each topic every member gets a run of consecutive partitions.

Topics with the same number of partitions, wanted by the same members, are cut at the same places:
both halves of a join of two such topics are at one member. Racks are matched first if they differ
and some member has one (KIP-881), if the runs keep their lengths and such topics stay together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from logquake.client.consumer.assignors.assignor import (
    Assignment,
    Held,
    PartitionsByTopic,
    RebalanceProtocol,
    Subscriptions,
    in_order,
    places_of,
)
from logquake.client.consumer.assignors.racks import racks_matter
from logquake.wire.topic_partition import TopicPartition


class RangeAssignor:
    name = "range"
    protocols = (RebalanceProtocol.EAGER,)

    def user_data(self, _held: Held | None, /) -> bytes | None:
        return None  # neither considers earlier assignments

    def assign(self, partitions: PartitionsByTopic, members: Subscriptions) -> Assignment:
        assigned: Assignment = {member: [] for member in sorted(members)}
        cuts = _cuts(partitions, members)
        if any(cut.racks_matter for cut in cuts):
            _match_racks(cuts, assigned)
        for cut in cuts:
            cut.deal(assigned)
        for given in assigned.values():
            given.sort()
        return assigned


class _Cut:
    """One topic while it is shared out (Kafka's TopicAssignmentState)."""

    def __init__(
        self,
        topic: str,
        partitions: PartitionsByTopic,
        readers: Sequence[str],
        rack_of: Mapping[str, str],
    ) -> None:
        self.topic = topic
        self.readers = tuple(readers)
        self.racks = partitions[topic]
        self._rack_of = rack_of
        self._left = dict.fromkeys(places_of(topic, partitions))
        self._taken = dict.fromkeys(readers, 0)
        self._share, self._longer_runs = divmod(len(self.racks), len(readers))
        wanted = {rack_of[reader] for reader in readers if reader in rack_of}
        self.racks_matter = racks_matter(wanted, self.racks)

    def rack_matches(self, reader: str, partition: int) -> bool:
        """True as well if the reader has no rack."""
        rack = self._rack_of.get(reader)
        return rack is None or rack in self.racks[partition]

    def room(self, reader: str) -> int:
        return max(0, self._share + (self._longer_runs > 0) - self._taken[reader])

    def give(self, reader: str, places: Sequence[TopicPartition], assigned: Assignment) -> None:
        assigned[reader] += places
        self._taken[reader] += len(places)
        self._longer_runs -= self._taken[reader] > self._share
        for place in places:
            del self._left[place]

    def deal(self, assigned: Assignment, *, near_alone: bool = False) -> None:
        """Give each reader the first, near ones alone where told to, as many as it has room for."""
        for reader in self.readers:
            fit = [
                place
                for place in self._left
                if not near_alone or self.rack_matches(reader, place.partition)
            ]
            if taken := fit[: self.room(reader)]:
                self.give(reader, taken, assigned)


def _cuts(partitions: PartitionsByTopic, members: Subscriptions) -> list[_Cut]:
    rack_of = {member: said.rack for member, said in members.items() if said.rack}
    readers: dict[str, list[str]] = {}
    for member in in_order(members):
        for topic in set(members[member].topics):
            readers.setdefault(topic, []).append(member)
    return [
        _Cut(topic, partitions, readers[topic], rack_of)
        for topic in sorted(readers)
        if partitions.get(topic)
    ]


def _match_racks(cuts: Iterable[_Cut], assigned: Assignment) -> None:
    alike: dict[tuple[tuple[str, ...], int], list[_Cut]] = {}
    for cut in cuts:
        alike.setdefault((cut.readers, len(cut.racks)), []).append(cut)
    for together in alike.values():
        if len(together) > 1:
            _match_racks_of_all(together, assigned)
        elif (alone := together[0]).racks_matter:
            alone.deal(assigned, near_alone=True)


def _match_racks_of_all(cuts: Sequence[_Cut], assigned: Assignment) -> None:
    """Topics that are cut alike: a partition's number goes to one reader in all of them."""
    readers = list(cuts[0].readers)
    for partition in range(len(cuts[0].racks)):
        found = next((each for each in readers if _fits(cuts, each, partition)), None)
        if found is None:
            continue
        for cut in cuts:
            cut.give(found, [TopicPartition(cut.topic, partition)], assigned)
        if not any(cut.room(found) for cut in cuts):
            readers.remove(found)


def _fits(cuts: Iterable[_Cut], reader: str, partition: int) -> bool:
    return all(cut.rack_matches(reader, partition) and cut.room(reader) for cut in cuts)
