"""What members of a group are given to read, hand out and commit, judged as it comes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from logquake.client.consumer.records import ConsumerRecord
from logquake.wire.topic_partition import TopicPartition


class Reading:
    """A partition has one owner in a generation. What an owner is given begins no later than where
    some owner before it had come to, and goes on without a gap and without a step back. A member
    commits no partition that another one owns in its generation, and nothing that nobody was given.
    """

    def __init__(self) -> None:
        self.generations: set[int] = set()
        self.commits = 0
        self.handed_out = 0
        self.up_to: defaultdict[TopicPartition, int] = defaultdict(int)  # given to anybody
        self._owners: dict[tuple[int, TopicPartition], str] = {}
        self._latest: dict[TopicPartition, tuple[int, str]] = {}  # in which generation, and who
        self._owned: defaultdict[str, set[TopicPartition]] = defaultdict(set)
        self._positions: dict[tuple[str, TopicPartition], int] = {}
        self._problems: list[str] = []

    def take_problems(self) -> Iterator[str]:
        problems, self._problems = self._problems, []
        return iter(problems)

    def assigned(
        self,
        member: str,
        generation: int,
        added: Sequence[TopicPartition],
        owned: Collection[TopicPartition],
    ) -> None:
        """Owned is all that it has now."""
        self.generations.add(generation)
        self._owned[member].update(added)
        for place in added:
            self._positions.pop((member, place), None)
        for place in sorted(owned):
            owner = self._owners.setdefault((generation, place), member)
            self._latest[place] = max(self._latest.get(place, (0, "")), (generation, member))
            if owner != member:
                self._problems.append(f"{place} is {owner}'s in {generation}, and {member}'s too")

    def given_up(self, member: str, places: Collection[TopicPartition]) -> None:
        """It was told that these are others' now, or that it owns nothing any more."""
        self._owned[member].difference_update(places)

    def sought(self, member: str, place: TopicPartition) -> None:
        """It goes on elsewhere, where it or another one has been."""
        self._positions.pop((member, place), None)

    def is_over(self, member: str) -> None:
        """Its process has ended."""
        self._owned.pop(member, None)

    def handed(self, member: str, record: ConsumerRecord) -> None:
        place, offset = record.place, record.offset
        self.handed_out += 1
        if place not in self._owned[member]:
            self._problems.append(f"{member} was given {place} {offset}, and does not own it")
        expected = self._positions.get((member, place))
        if expected is None and offset > self.up_to[place]:
            self._problems.append(
                f"{member} begins {place} at {offset}, nobody was given {self.up_to[place]}"
            )
        elif expected is not None and offset != expected:
            self._problems.append(f"{member} was given {place} {offset}, {expected} was to follow")
        self._positions[member, place] = offset + 1
        self.up_to[place] = max(self.up_to[place], offset + 1)

    def commits_leave(
        self, member: str, generation: int, offsets: Mapping[TopicPartition, int]
    ) -> None:
        """A coordinator refuses what is of an earlier generation than its group's."""
        self.commits += 1
        for place, offset in offsets.items():
            since, owner = self._latest.get(place, (generation, member))
            if owner != member and since <= generation:
                self._problems.append(
                    f"{member} commits {offset} of {place} in {generation}, which is {owner}'s"
                )
            if offset > self.up_to[place]:
                self._problems.append(
                    f"{member} commits {offset} of {place}; nobody was given {self.up_to[place]}"
                )
