"""The offsets that one group has: committed, on their way to it, and of open transactions.

What is committed changes by replay alone: `put`, `drop` and `complete` take what the log says in
its order, at a load and when an append was answered. Commits on their way are not part of that;
they are what makes an offset unstable (KIP-447), and keep it from expiring.

Differences from GroupMetadata, which can say something else than its own log would after a load:
- A commit that timed out is in the log all the same. It is in doubt until it is committed, and
  holds from then on.
- An offset that is deleted while a commit for it is on its way stays deleted.
- Deleting leaves alone what open transactions have: their markers decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from logquake.node.coordinators.groups.offsets.committed import LoggedOffset, OffsetAndMetadata
from logquake.wire.sentinels import NO_PRODUCER_ID
from logquake.wire.topic_partition import TopicPartition


class PendingCommit:
    """One request's offsets, appended and not answered yet. ``in_doubt``: it was answered, by an
    error that leaves open whether it will be committed.
    """

    __slots__ = ("in_doubt", "offsets", "producer_id")

    def __init__(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], producer_id: int = NO_PRODUCER_ID
    ) -> None:
        self.offsets = offsets
        self.producer_id = producer_id
        self.in_doubt = False


class GroupOffsets:
    def __init__(self) -> None:
        self._committed: dict[TopicPartition, LoggedOffset] = {}
        self._transactional: dict[int, dict[TopicPartition, LoggedOffset]] = {}
        self._pending: dict[TopicPartition, list[PendingCommit]] = {}

    def __iter__(self) -> Iterator[TopicPartition]:
        """The partitions with a committed offset, by topic and index."""
        return iter(sorted(self._committed))

    def __eq__(self, other: object) -> bool:
        """Of two that were made of the same log."""
        if not isinstance(other, GroupOffsets):
            return NotImplemented
        return (self._committed, self._transactional) == (other._committed, other._transactional)

    __hash__ = None  # type: ignore[assignment]

    def get(self, partition: TopicPartition) -> OffsetAndMetadata | None:
        logged = self._committed.get(partition)
        return None if logged is None else logged.value

    def items(self) -> Iterator[tuple[TopicPartition, OffsetAndMetadata]]:
        """What is committed, by topic and index."""
        return ((partition, self._committed[partition].value) for partition in self)

    @property
    def is_empty(self) -> bool:
        """Whether the group has nothing here, and nothing coming."""
        return not (self._committed or self._transactional or self._pending)

    @property
    def producers(self) -> Iterable[int]:
        """Those whose transactions hold offsets of the group."""
        return self._transactional

    def is_unstable(self, partition: TopicPartition) -> bool:
        """Whether its offset may be another one any moment."""
        return any(not commit.in_doubt for commit in self._pending.get(partition, ())) or any(
            partition in offsets for offsets in self._transactional.values()
        )

    def is_pending(self, partition: TopicPartition) -> bool:
        """Whether a commit outside of transactions is on its way."""
        commits = self._pending.get(partition, ())
        return any(commit.producer_id == NO_PRODUCER_ID for commit in commits)

    # By replay

    def put(self, partition: TopicPartition, logged: LoggedOffset, producer_id: int) -> None:
        """A commit; of a producer's transaction it waits for the marker."""
        offsets = self._committed
        if producer_id != NO_PRODUCER_ID:
            offsets = self._transactional.setdefault(producer_id, {})
        current = offsets.get(partition)
        if current is None or current.batch_offset <= logged.batch_offset:
            offsets[partition] = logged

    def drop(self, partition: TopicPartition, producer_id: int) -> None:
        """A tombstone."""
        if producer_id == NO_PRODUCER_ID:
            self._committed.pop(partition, None)
        else:
            self._transactional.get(producer_id, {}).pop(partition, None)

    def complete(self, producer_id: int, *, committed: bool) -> None:
        """The marker of a producer's transaction."""
        offsets = self._transactional.pop(producer_id, {})
        if committed:
            for partition, logged in offsets.items():
                self.put(partition, logged, NO_PRODUCER_ID)

    # On their way

    def begin(self, commit: PendingCommit) -> None:
        """It is appended, and not answered yet."""
        for partition in commit.offsets:
            self._pending.setdefault(partition, []).append(commit)

    def end(self, commit: PendingCommit, batch_offset: int | None) -> None:
        """It is committed in a batch at that offset, or None: it is not in the log."""
        for partition, value in commit.offsets.items():
            if self._take(partition, commit) and batch_offset is not None:
                self.put(partition, LoggedOffset(batch_offset, value), commit.producer_id)

    def _take(self, partition: TopicPartition, commit: PendingCommit) -> bool:
        """Whether it was still wanted."""
        commits = self._pending.get(partition, [])
        if commit not in commits:
            return False
        commits.remove(commit)
        if not commits:
            del self._pending[partition]
        return True

    # Deleting

    def remove(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        """Forget offsets; those that the log may tell of, and that need a tombstone there."""
        return [partition for partition in partitions if self._remove(partition)]

    def remove_all(self) -> list[TopicPartition]:
        return self.remove(sorted(self._committed.keys() | self._pending.keys()))

    def _remove(self, partition: TopicPartition) -> bool:
        was_committed = self._committed.pop(partition, None) is not None
        commits = self._pending.pop(partition, [])
        kept = [commit for commit in commits if commit.producer_id != NO_PRODUCER_ID]
        if kept:
            self._pending[partition] = kept
        return was_committed or len(kept) < len(commits)
