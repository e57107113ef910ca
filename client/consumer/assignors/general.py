"""The sticky assignment if members want different topics: as even as their subscriptions allow.

Members keep what they own, the rest goes to the members with the fewest, and then single partitions
move while that evens the shares out; if the result is no better in the end, the earlier assignment
stands (AbstractStickyAssignor.GeneralAssignmentBuilder).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence

from logquake.client.consumer.assignors.assignor import (
    Assignment,
    Held,
    PartitionsByTopic,
    Subscriptions,
    places_of,
)
from logquake.client.consumer.assignors.claims import Claims
from logquake.client.consumer.assignors.movements import Movements
from logquake.client.consumer.assignors.racks import RackMatching
from logquake.wire.topic_partition import TopicPartition


class _Shares:
    """The members' partitions; members are sorted by the size of their share, then by id."""

    def __init__(self, owned: Mapping[str, Iterable[TopicPartition]]) -> None:
        self.by_member = {member: list(places) for member, places in owned.items()}
        self.owner = {place: one for one, places in self.by_member.items() for place in places}
        self._order = sorted((len(places), one) for one, places in self.by_member.items())

    def __iter__(self) -> Iterator[str]:
        return (member for _, member in self._order)

    def size(self, member: str) -> int:
        return len(self.by_member[member])

    @property
    def differ_by_one(self) -> bool:
        return self._order[0][0] >= self._order[-1][0] - 1

    @property
    def is_empty(self) -> bool:
        return self._order[-1][0] == 0

    def copy(self) -> _Shares:
        return _Shares(self.by_member)

    def give(self, place: TopicPartition, member: str) -> None:
        """Make the member the partition's only owner."""
        before = self.owner.get(place)
        if before is not None:
            self._leave_order(before)
            self.by_member[before].remove(place)
            self._enter_order(before)
        self._leave_order(member)
        self.by_member[member].append(place)
        self._enter_order(member)
        self.owner[place] = member

    def set_aside(self, member: str) -> list[TopicPartition]:
        """Exclude the member from now on. Returns its partitions."""
        self._leave_order(member)
        return self.by_member.pop(member)

    def unevenness(self) -> int:
        """The differences of all pairs of members, summed up."""
        sizes = [size for size, _ in self._order]
        return sum(size * (2 * index - len(sizes) + 1) for index, size in enumerate(sizes))

    def _leave_order(self, member: str) -> None:
        del self._order[bisect_left(self._order, (self.size(member), member))]

    def _enter_order(self, member: str) -> None:
        insort(self._order, (self.size(member), member))


class GeneralAssignment:
    """Made once, `build` called once."""

    def __init__(
        self,
        partitions: PartitionsByTopic,
        members: Subscriptions,
        racks: RackMatching,
        said: Mapping[str, Held],
        claims: Claims,
    ) -> None:
        self._places = {topic: places_of(topic, partitions) for topic in partitions}
        self._racks = racks
        self._wishes = {
            member: frozenset(said.topics) & partitions.keys() for member, said in members.items()
        }
        self._readers: dict[str, list[str]] = {topic: [] for topic in partitions}
        for member, topics in self._wishes.items():
            for topic in topics:
                self._readers[topic].append(member)
        kept = {member: self._kept(member, owned) for member, owned in claims.owned.items()}
        self._revokes = kept != claims.owned
        self._shares = _Shares(kept)
        self._before_last = _owners_before(said, claims.newest_generation)
        self._movements = Movements()

    def build(self) -> Assignment:
        starts_empty = self._shares.is_empty
        everything = self._fewest_readers_first()
        free = [place for place in everything if place not in self._shares.owner]
        self._assign(free)
        fixed = {
            member: self._shares.set_aside(member)
            for member in self._wishes
            if not self._takes_part(member)
        }
        before = self._shares.copy()
        # New partitions move first: no member has to give up anything for that.
        if not self._revokes:
            self._even_out(free)
        moved = self._even_out(everything)
        if moved and not starts_empty and self._shares.unevenness() >= before.unevenness():
            self._shares = before
        return self._shares.by_member | fixed

    def _kept(self, member: str, owned: Iterable[TopicPartition]) -> list[TopicPartition]:
        return [
            place
            for place in owned
            if place.topic in self._wishes[member] and not self._racks.mismatches(member, place)
        ]

    def _fewest_readers_first(self) -> list[TopicPartition]:
        topics = sorted(self._places, key=lambda topic: (len(self._readers[topic]), topic))
        return [place for topic in topics for place in self._places[topic]]

    def _assign(self, free: Sequence[TopicPartition]) -> None:
        """To members with a matching rack while there are any; the rest to any member."""
        rest = [place for place in free if not self._assign_one(place, heed_racks=True)]
        for place in rest:
            self._assign_one(place, heed_racks=False)

    def _assign_one(self, place: TopicPartition, *, heed_racks: bool) -> bool:
        for member in self._shares:
            if place.topic not in self._wishes[member]:
                continue
            if heed_racks and self._racks.mismatches(member, place):
                continue
            self._shares.give(place, member)
            return True
        return False

    def _takes_part(self, member: str) -> bool:
        """Whether it could get more, or another could have some of its own."""
        if self._shares.size(member) < self._most_of(member):
            return True
        return any(self._is_shared(place.topic) for place in self._shares.by_member[member])

    def _most_of(self, member: str) -> int:
        return sum(len(self._places[topic]) for topic in self._wishes[member])

    def _is_shared(self, topic: str) -> bool:
        return len(self._readers[topic]) > 1

    def _even_out(self, places: Sequence[TopicPartition]) -> bool:
        """Move partitions one by one while any can move. Returns whether any did."""
        movable = [place for place in places if self._is_shared(place.topic)]
        moved_any = False
        while self._pass_over(movable):
            moved_any = True
        return moved_any

    def _pass_over(self, movable: Iterable[TopicPartition]) -> bool:
        moved = False
        for place in movable:
            if self._is_balanced():
                break
            target = self._better_owner(place)
            if target is not None:
                self._move(place, target)
                moved = True
        return moved

    def _is_balanced(self) -> bool:
        """Whether no member could take a partition from one that has at least two more."""
        if self._shares.differ_by_one:
            return True
        return not any(
            self._shares.size(self._shares.owner[place]) > self._shares.size(member) + 1
            for member in self._shares
            if self._shares.size(member) < self._most_of(member)
            for topic in self._wishes[member]
            for place in self._places[topic]
        )

    def _better_owner(self, place: TopicPartition) -> str | None:
        """Its owner the generation before last, else the member with the fewest, or None."""
        most = self._shares.size(self._shares.owner[place]) - 1
        readers = self._readers[place.topic]
        previous = self._before_last.get(place)
        if previous in readers and self._shares.size(previous) < most:
            return previous
        fewest = min(readers, key=lambda member: (self._shares.size(member), member))
        return fewest if self._shares.size(fewest) < most else None

    def _move(self, place: TopicPartition, target: str) -> None:
        place = self._movements.better_one(place, self._shares.owner[place], target)
        self._movements.record(place, self._shares.owner[place], target)
        self._shares.give(place, target)


def _owners_before(said: Mapping[str, Held], newest_generation: int) -> dict[TopicPartition, str]:
    """Of what members had before the newest generation: the latest of them for each partition."""
    found: dict[TopicPartition, str] = {}
    for member, held in said.items():
        if held.generation >= newest_generation:
            continue
        for place in held.partitions:
            if place not in found or held.generation > said[found[place]].generation:
                found[place] = member
    return found
