"""The groups of one partition of __consumer_offsets, made by replay of its log.

Kafka's GroupMetadataManager: groupMetadataCache, openGroupsForProducer, doLoadGroupsAndOffsets.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from logquake.node.coordinators.groups.group import Group
from logquake.node.coordinators.groups.membership.group import ClassicGroup
from logquake.node.coordinators.groups.membership.record import group_of
from logquake.node.coordinators.groups.membership.settings import GroupSettings
from logquake.node.coordinators.groups.offsets.committed import LoggedOffset
from logquake.node.coordinators.groups.offsets.group_offsets import PendingCommit
from logquake.node.coordinators.groups.offsets.records import read_offset
from logquake.node.coordinators.replay import LoggedRecord
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.coordinator_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
)
from logquake.wire.sentinels import NO_PRODUCER_ID
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.versioned import decode_offsets_key, decode_versioned

# The records are in the log, and may come to be committed.
_IN_DOUBT = frozenset({ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND})


class GroupPartition:
    def __init__(self, settings: GroupSettings) -> None:
        self._settings = settings
        self._groups: dict[str, Group] = {}
        self._of_producer: dict[int, dict[str, None]] = {}  # groups of an open transaction
        self._in_doubt: deque[tuple[int, Group, PendingCommit]] = deque()  # by offset

    def __iter__(self) -> Iterator[Group]:
        """All groups, by name; some may go while they are looked at."""
        return iter([self._groups[group_id] for group_id in sorted(self._groups)])

    def get(self, group_id: str) -> Group | None:
        return self._groups.get(group_id)

    def get_or_add(self, group_id: str) -> Group:
        group = self._groups.get(group_id)
        if group is None:
            group = self._groups[group_id] = Group(group_id, self._settings)
        return group

    def remove(self, group: Group) -> None:
        """What open transactions have of its offsets outlives it: their markers decide."""
        self._groups.pop(group.group_id, None)
        if not group.offsets.is_empty:
            self.get_or_add(group.group_id).offsets = group.offsets

    def remove_idle(self) -> None:
        """After a load: groups of which tombstones left nothing, and that no record tells of."""
        for group in self:
            if group.generation_id == 0 and group.is_idle:
                self.remove(group)

    # What the log says

    def replay(self, record: LoggedRecord) -> None:
        """Raises ProtocolError."""
        key = decode_offsets_key(record.key)
        if isinstance(key, OffsetCommitKey):
            partition = TopicPartition(key.topic, key.partition)
            self._replay_offset(key.group, partition, record)
        elif isinstance(key, GroupMetadataKey):
            self._replay_group(key.group, record.value)

    def _replay_offset(
        self, group_id: str, partition: TopicPartition, record: LoggedRecord
    ) -> None:
        if record.value is None:
            group = self.get(group_id)
            if group is not None:
                group.offsets.drop(partition, record.producer_id)
            return
        logged = LoggedOffset(record.batch_offset, read_offset(record.value))
        self.get_or_add(group_id).offsets.put(partition, logged, record.producer_id)
        self._note_producer(record.producer_id, group_id)

    def _replay_group(self, group_id: str, value: bytes | None) -> None:
        if value is not None:
            read = group_of(group_id, decode_versioned(GroupMetadataValue, value), self._settings)
            self.get_or_add(group_id).membership = read
        elif group_id in self._groups:
            self._groups[group_id].membership = ClassicGroup(group_id, self._settings)

    def replay_marker(self, producer_id: int, *, committed: bool) -> None:
        """Of a transaction, once its marker is committed in this partition, or at a load."""
        for group_id in self._of_producer.pop(producer_id, ()):
            group = self.get(group_id)
            if group is not None:
                group.offsets.complete(producer_id, committed=committed)

    def _note_producer(self, producer_id: int, group_id: str) -> None:
        if producer_id != NO_PRODUCER_ID:
            self._of_producer.setdefault(producer_id, {})[group_id] = None

    # What became of commits

    def settle(
        self, group: Group, commit: PendingCommit, error: ErrorCode, batch_offset: int
    ) -> None:
        """The append of a commit was answered."""
        if error in _IN_DOUBT:
            commit.in_doubt = True
            self._in_doubt.append((batch_offset, group, commit))
        elif error is ErrorCode.NONE:
            self._hold(group, commit, batch_offset)
        else:
            group.offsets.end(commit, None)

    def settle_doubts(self, high_watermark: int) -> None:
        """What lies below the high watermark is committed, whatever its client was told."""
        while self._in_doubt and self._in_doubt[0][0] < high_watermark:
            batch_offset, group, commit = self._in_doubt.popleft()
            self._hold(group, commit, batch_offset)

    def _hold(self, group: Group, commit: PendingCommit, batch_offset: int) -> None:
        group.offsets.end(commit, batch_offset)
        self._note_producer(commit.producer_id, group.group_id)
