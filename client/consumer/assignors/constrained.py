"""The sticky assignment if all members want the same topics: shares differ by one at most.

With P partitions and N members, each gets at least `low` = P // N of them, and P % N members one
more. A member keeps what it owns up to that; the rest is dealt out to those that lack partitions
(AbstractStickyAssignor.ConstrainedAssignmentBuilder).
"""

from __future__ import annotations

from collections.abc import Sequence

from logquake.client.consumer.assignors.assignor import (
    Assignment,
    PartitionsByTopic,
    places_of,
)
from logquake.client.consumer.assignors.claims import Claims
from logquake.client.consumer.assignors.racks import RackMatching
from logquake.wire.topic_partition import TopicPartition


class ConstrainedAssignment:
    """Call `build` once; then `moving` has the partitions that change owners, with the new ones."""

    def __init__(self, partitions: PartitionsByTopic, racks: RackMatching, claims: Claims) -> None:
        self.moving: dict[TopicPartition, str] = {}
        self._all = [
            place for topic in sorted(partitions) for place in places_of(topic, partitions)
        ]
        self._racks = racks
        self._claims = claims
        self._assigned: Assignment = {member: [] for member in claims.owned}
        self._low, self._higher_left = divmod(len(self._all), len(claims.owned) or 1)
        self._high = self._low + (self._higher_left > 0)
        self._below: list[str] = []  # has fewer than `low`
        self._at_low: list[str] = []  # has `low` and may have one more
        self._let_go: dict[TopicPartition, str] = {}  # owned, and above its owner's share

    def build(self) -> Assignment:
        for member, owned in self._claims.owned.items():
            self._keep(member, owned)
        self._below.sort()
        self._at_low.sort()
        kept = {place for given in self._assigned.values() for place in given}
        free = [place for place in self._all if place not in kept]
        self._deal(self._deal_to_near_ones(self._racks.hardest_first(free)))
        return self._assigned

    def _keep(self, member: str, owned: Sequence[TopicPartition]) -> None:
        far = {place for place in owned if self._racks.mismatches(member, place)}
        self._let_go |= dict.fromkeys(far, member)
        lost = far | self._claims.contested
        near = [place for place in owned if place not in lost]
        # By number first: of every topic it keeps the same ones, as range would have it.
        near.sort(key=lambda place: (place.partition, place.topic))
        share = self._share(member, len(near))
        self._assigned[member] += near[:share]
        self._let_go |= dict.fromkeys(near[share:], member)

    def _share(self, member: str, owned: int) -> int:
        if owned < self._low:
            self._below.append(member)
            return owned
        if owned >= self._high and self._higher_left > 0:
            self._one_has_more()
            return self._high
        if self._higher_left > 0:
            self._at_low.append(member)
        return self._low

    def _one_has_more(self) -> None:
        self._higher_left -= 1
        if self._higher_left == 0:
            self._at_low.clear()

    def _deal_to_near_ones(self, free: Sequence[TopicPartition]) -> list[TopicPartition]:
        """Returns those for which no near member has room."""
        if not self._racks:
            return list(free)
        left: list[TopicPartition] = []
        turn = 0
        for place in free:
            index = self._racks.next_near(place, self._below, turn)
            if index is not None:
                turn = self._fill(place, index)
            elif not self._top_up_near_one(place):
                left.append(place)
        return left

    def _fill(self, place: TopicPartition, index: int) -> int:
        """Returns whose turn is next among those below."""
        member = self._below[index]
        count = self._give(place, member)
        if count < self._low:
            index += 1
        else:
            del self._below[index]
            if count < self._high and self._higher_left > 0:
                self._at_low.append(member)
        return index % len(self._below) if self._below else 0

    def _top_up_near_one(self, place: TopicPartition) -> bool:
        index = self._racks.next_near(place, self._at_low, 0)
        if index is None:
            return False
        member = self._at_low[index]
        if self._give(place, member) == self._high:
            del self._at_low[index]
            self._one_has_more()
        return True

    def _deal(self, free: Sequence[TopicPartition]) -> None:
        turn = 0
        for place in free:
            if not self._below:
                self._give(place, self._at_low.pop(0))
                continue
            turn %= len(self._below)
            member = self._below[turn]
            if self._give(place, member) < self._low:
                turn += 1
            else:
                del self._below[turn]
                self._at_low.append(member)

    def _give(self, place: TopicPartition, member: str) -> int:
        """Returns how many the member has then."""
        self._assigned[member].append(place)
        owner = self._let_go.get(place, member)
        if owner != member or place in self._claims.contested:
            self.moving[place] = member
        return len(self._assigned[member])
