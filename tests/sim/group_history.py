"""What the members of a group did and were told, judged as it comes.

Each method that notes something yields what is wrong with it; nothing if it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from logquake.wire.topic_partition import TopicPartition

NOTHING_COMMITTED = -1


@dataclass(frozen=True, slots=True)
class Commit:
    """An OffsetCommit that was sent when ``newest`` was the newest generation that any member had
    been assigned partitions in.
    """

    member: str
    generation: int
    offsets: Mapping[TopicPartition, int]
    newest: int


class GroupHistory:
    """One owner per partition and generation; a stale generation's commit is refused; an acked
    commit survives its coordinator, and lies at or below the high watermark; no skip and no step
    back within an assignment.
    """

    def __init__(self) -> None:
        self.newest = 0
        self.acked_commits = 0
        self.refused_commits = 0
        self._owners: dict[tuple[int, TopicPartition], str] = {}
        self._sent: dict[TopicPartition, set[tuple[int, int]]] = {}  # (generation, offset)
        self._acked: dict[TopicPartition, tuple[int, int]] = {}  # the last of them
        self._abandoned: dict[TopicPartition, set[tuple[int, int]]] = {}

    def assigned(
        self, member: str, generation: int, partitions: frozenset[TopicPartition]
    ) -> Iterator[str]:
        """A partition has one owner in a generation."""
        self.newest = max(self.newest, generation)
        for partition in sorted(partitions):
            owner = self._owners.setdefault((generation, partition), member)
            if owner != member:
                yield f"{partition} is {owner}'s in generation {generation}, and {member}'s too"

    def commit_sent(
        self, member: str, generation: int, offsets: Mapping[TopicPartition, int]
    ) -> Commit:
        for partition, offset in offsets.items():
            self._sent.setdefault(partition, set()).add((generation, offset))
        return Commit(member, generation, offsets, self.newest)

    def commit_refused(self, _commit: Commit) -> None:
        self.refused_commits += 1

    def commit_abandoned(self, commit: Commit) -> None:
        """Its connection ended first. What waits in that connection may be carried out after what
        came by the next one, in Kafka too, as long as its generation is the group's.
        """
        for partition, offset in commit.offsets.items():
            self._abandoned.setdefault(partition, set()).add((commit.generation, offset))

    def commit_acked(self, commit: Commit, ends: Mapping[TopicPartition, int]) -> Iterator[str]:
        """A stale generation's commit is refused; a committed offset is at or below the high
        watermark, which is at or below ``ends``.
        """
        self.acked_commits += 1
        if commit.generation < commit.newest:
            yield f"{commit} was acked, though a later generation had been assigned partitions"
        for partition, offset in commit.offsets.items():
            if offset > ends[partition]:
                yield f"{commit} was acked, but {partition} ends at {ends[partition]}"
            last = self._acked.get(partition, (0, NOTHING_COMMITTED))
            self._acked[partition] = max(last, (commit.generation, offset))

    def last_acked(self, partition: TopicPartition) -> tuple[int, int]:
        """Generation and offset of the commit that nothing may undo."""
        return self._acked.get(partition, (0, NOTHING_COMMITTED))

    def fetched(
        self, partition: TopicPartition, offset: int, acked_before: tuple[int, int]
    ) -> Iterator[str]:
        """An acked commit survives: what is fetched later is it, what was sent later, or what was
        abandoned in its generation.
        """
        if acked_before[1] == NOTHING_COMMITTED and offset == NOTHING_COMMITTED:
            return
        later = {sent for sent in self._sent.get(partition, ()) if sent >= acked_before}
        abandoned = self._abandoned.get(partition, set())
        late = {sent for sent in abandoned if sent[0] >= acked_before[0]}
        if offset not in {value for _, value in later | late}:
            yield f"{partition} was told to be at {offset}; {acked_before} was acked before"

    def polled(
        self, member: str, partition: TopicPartition, position: int, first: int, end: int
    ) -> Iterator[str]:
        """No skip and no step back within an assignment."""
        if not first <= position < end:
            yield f"{member} at {position} of {partition} was given {first} to {end}"
