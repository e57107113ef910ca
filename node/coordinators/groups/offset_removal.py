"""Offsets go: they are deleted, they expire, or what they are about does; and groups with them.

GroupCoordinator's handleDeleteOffsets and handleDeletedPartitions, GroupMetadataManager's
cleanupGroupMetadata.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from logquake.node.coordinators.groups.carrying_out import CarryingOut
from logquake.node.coordinators.groups.group import Group
from logquake.node.coordinators.groups.membership import ending
from logquake.node.coordinators.groups.offset_manager import Errors
from logquake.node.coordinators.groups.offsets.expiration import expired
from logquake.node.coordinators.groups.offsets.group_offsets import GroupOffsets
from logquake.node.coordinators.groups.offsets.records import tombstone_batch
from logquake.node.coordinators.groups.offsets.settings import OffsetSettings
from logquake.node.coordinators.groups.terms import GroupPartitions, GroupTerm, settled
from logquake.node.replication.background.sliced_round import SlicedRound
from logquake.seams.scheduler import Scheduler, Timer
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition

_GROUPS_AT_A_TIME = 100  # requests that arrive while many are looked at are served in between
_NO_ACKS = 0

Select = Callable[[GroupOffsets], Sequence[TopicPartition]]


class OffsetRemoval:
    def __init__(
        self,
        partitions: GroupPartitions,
        settings: OffsetSettings,
        effects: CarryingOut,
        scheduler: Scheduler,
    ) -> None:
        self._partitions = partitions
        self._settings = settings
        self._effects = effects
        self._scheduler = scheduler
        self._expiration: SlicedRound[tuple[GroupTerm, Group]] = SlicedRound(
            scheduler, lambda each: self._expire(*each), _GROUPS_AT_A_TIME
        )
        self._timer: Timer | None = None

    def start(self) -> None:
        """Begin to look for offsets that are too old."""
        interval_ms = self._settings.retention_check_interval_ms
        self._timer = self._scheduler.call_later(interval_ms, self._look_for_expired)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def delete(self, group_id: str, partitions: Sequence[TopicPartition]) -> Errors | ErrorCode:
        """At once, as Kafka does: a coordinator that fails now may bring them back (KIP-496)."""
        found = self._partitions.find(group_id) if group_id else ErrorCode.INVALID_GROUP_ID
        term = settled(found)
        if isinstance(term, ErrorCode):
            return term
        group = term.state.get(group_id)
        if group is None:
            return ErrorCode.GROUP_ID_NOT_FOUND
        error = group.deletion_error()
        if error:
            return error
        in_use = [tp for tp in partitions if group.is_subscribed_to(tp.topic)]
        free = [tp for tp in partitions if not group.is_subscribed_to(tp.topic)]
        if free:
            self._clean(term, group, lambda offsets: offsets.remove(free))
        refused = dict.fromkeys(in_use, ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC)
        return refused | dict.fromkeys(free, ErrorCode.NONE)

    def forget(self, partitions: Sequence[TopicPartition]) -> None:
        """These were deleted from the cluster: no group needs its offsets of them."""
        for term in self._partitions:
            for group in term.state:
                self._clean(term, group, lambda offsets: offsets.remove(partitions))

    def bury(self, term: GroupTerm, group: Group) -> None:
        """A group that is dead: its offsets go with it."""
        self._clean(term, group, lambda offsets: offsets.remove_all())

    def _look_for_expired(self) -> None:
        self._expiration.start((term, group) for term in self._partitions for group in term.state)
        self.start()

    def _expire(self, term: GroupTerm, group: Group) -> None:
        retention = group.retention()
        if term.is_current and retention is not None:
            now_ms, retention_ms = self._scheduler.wall_ms(), self._settings.retention_ms
            self._clean(
                term,
                group,
                lambda offsets: offsets.remove(expired(offsets, retention, now_ms, retention_ms)),
            )

    def _clean(self, term: GroupTerm, group: Group, select: Select) -> None:
        """Take offsets out, and the group if that was all (cleanupGroupMetadata).

        Nobody waits for the tombstones: if they get lost, what they took out expires again.
        """
        removed = select(group.offsets)
        if group.is_idle:
            why = "it has neither members nor offsets"
            ending.delete(group.membership, why, self._effects.now())
        with_group = group.membership.is_dead and group.generation_id > 0
        if group.membership.is_dead:
            self._effects.carry_out(term, group)
            term.state.remove(group)
        if removed or with_group:
            batch = tombstone_batch(
                group.group_id,
                removed,
                self._scheduler.wall_ms(),
                self._settings.compression,
                with_group=with_group,
            )
            term.append(batch, _NO_ACKS, 0, lambda _error, _offset: None)
