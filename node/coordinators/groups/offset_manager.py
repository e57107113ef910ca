"""Committing, fetching, deleting and expiring offsets: what a request means for a term.

GroupCoordinator's handleCommitOffsets, handleTxnCommitOffsets, handleFetchOffsets,
handleDeleteOffsets and handleDeletedPartitions, GroupMetadataManager's storeOffsets, getOffsets
and cleanupGroupMetadata. A commit is answered, and to be seen, once it is replicated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from logquake.node.coordinators.append_errors import OF_OFFSETS, told_as
from logquake.node.coordinators.groups.carrying_out import CarryingOut
from logquake.node.coordinators.groups.group import Committer, Group
from logquake.node.coordinators.groups.group_partition import GroupPartition
from logquake.node.coordinators.groups.membership import ending
from logquake.node.coordinators.groups.offsets.committed import OffsetAndMetadata
from logquake.node.coordinators.groups.offsets.expiration import expired
from logquake.node.coordinators.groups.offsets.group_offsets import GroupOffsets, PendingCommit
from logquake.node.coordinators.groups.offsets.records import (
    NO_PRODUCER,
    Producer,
    commit_batch,
    tombstone_batch,
)
from logquake.node.coordinators.groups.offsets.settings import OffsetSettings
from logquake.node.coordinators.partitions import CoordinatorPartitions
from logquake.node.coordinators.term import Term
from logquake.node.replication.background.sliced_round import SlicedRound
from logquake.node.replication.transactions.add_partitions_to_txn import TransactionalProducer
from logquake.node.replication.transactions.verification import TransactionVerification, Verdicts
from logquake.seams.scheduler import Scheduler, Timer
from logquake.storage.producers.verification import VerificationGuard
from logquake.wire.errors import ErrorCode
from logquake.wire.java_text import java_length
from logquake.wire.sentinels import NO_SEQUENCE
from logquake.wire.topic_partition import TopicPartition

_GROUPS_AT_A_TIME = 100  # requests that arrive while many are looked at are served in between
_NO_ACKS = 0

Offsets = Mapping[TopicPartition, OffsetAndMetadata]
Errors = Mapping[TopicPartition, ErrorCode]
Select = Callable[[GroupOffsets], Sequence[TopicPartition]]


class FetchedOffset(NamedTuple):
    """``value`` is None where nothing is committed."""

    error: ErrorCode
    value: OffsetAndMetadata | None = None


class OffsetManager:
    def __init__(
        self,
        partitions: CoordinatorPartitions[GroupPartition],
        settings: OffsetSettings,
        verification: TransactionVerification,
        effects: CarryingOut,
        scheduler: Scheduler,
    ) -> None:
        self._partitions = partitions
        self._verification = verification
        self._settings = settings
        self._effects = effects
        self._scheduler = scheduler
        self._expiration: SlicedRound[tuple[Term[GroupPartition], Group]] = SlicedRound(
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

    # Committing

    def commit(
        self, group_id: str, who: Committer, offsets: Offsets, done: Callable[[Errors], None]
    ) -> None:
        """done gets an error for each partition, at once or when the commit is replicated."""
        term = self._find(group_id)
        if isinstance(term, ErrorCode):
            done(dict.fromkeys(offsets, term))
            return
        group = term.state.get(group_id)
        if group is None:
            if who.generation_id >= 0:
                done(dict.fromkeys(offsets, ErrorCode.ILLEGAL_GENERATION))
                return
            group = term.state.get_or_add(group_id)
        error = group.commit_error(who, transactional=False)
        if error:
            done(dict.fromkeys(offsets, error))
            return
        group.note_commit(who, self._effects.now())
        self._effects.carry_out(term, group)
        self._store(term, group, offsets, done)

    def commit_transactional(
        self,
        group_id: str,
        producer: TransactionalProducer,
        who: Committer,
        offsets: Offsets,
        done: Callable[[Errors], None],
    ) -> None:
        """The same; what is committed holds when the marker of the transaction comes.

        The transaction's coordinator is asked first whether the group belongs to it (KIP-890).
        """
        term = self._find(group_id) if group_id else ErrorCode.INVALID_GROUP_ID
        if isinstance(term, ErrorCode):
            done(dict.fromkeys(offsets, term))
            return
        term.state.get_or_add(group_id)
        here = TopicPartition(term.partition.topic, term.index)

        def verified(verdicts: Verdicts) -> None:
            verdict = verdicts.get(here)
            if isinstance(verdict, ErrorCode):
                done(dict.fromkeys(offsets, told_as(verdict, OF_OFFSETS)))
                return
            group = term.state.get_or_add(group_id)  # it may have gone meanwhile
            error = group.commit_error(who, transactional=True)
            if error:
                done(dict.fromkeys(offsets, error))
                return
            writer = Producer(producer.producer_id, producer.producer_epoch)
            self._store(term, group, offsets, done, writer, verdict)

        verdicts = self._verification.begin(producer, {here: NO_SEQUENCE})
        self._verification.ask(producer, verdicts, verified)

    def _store(
        self,
        term: Term[GroupPartition],
        group: Group,
        offsets: Offsets,
        done: Callable[[Errors], None],
        producer: Producer = NO_PRODUCER,
        guard: VerificationGuard | None = None,
    ) -> None:
        fit = {tp: value for tp, value in offsets.items() if self._fits(value)}
        if not fit:
            done(dict.fromkeys(offsets, ErrorCode.OFFSET_METADATA_TOO_LARGE))
            return
        commit = PendingCommit(fit, producer.producer_id)
        group.offsets.begin(commit)

        def appended(error: ErrorCode, batch_offset: int) -> None:
            term.state.settle(group, commit, error, batch_offset)
            told = told_as(error, OF_OFFSETS)
            too_large = ErrorCode.OFFSET_METADATA_TOO_LARGE
            done({partition: told if partition in fit else too_large for partition in offsets})

        settings = self._settings
        now_ms = self._scheduler.wall_ms()
        batch = commit_batch(group.group_id, fit, now_ms, settings.compression, producer)
        term.append(
            batch,
            settings.commit_required_acks,
            settings.commit_timeout_ms,
            appended,
            guard=guard,
        )

    def _fits(self, value: OffsetAndMetadata) -> bool:
        return java_length(value.metadata) <= self._settings.max_metadata_size

    def on_transaction_completed(
        self, producer_id: int, partitions: Iterable[int], *, committed: bool
    ) -> None:
        """The producer's marker is in these partitions of __consumer_offsets, and replicated.

        One that is being loaded finds it in its log.
        """
        for index in partitions:
            term = self._settled(self._partitions.find_at(index))
            if not isinstance(term, ErrorCode):
                term.state.replay_marker(producer_id, committed=committed)

    # Fetching

    def fetch(
        self, group_id: str, partitions: Iterable[TopicPartition] | None, *, require_stable: bool
    ) -> dict[TopicPartition, FetchedOffset] | ErrorCode:
        """Of these partitions, or of all with an offset. Whoever asks need not be a member."""
        term = self._find(group_id)
        if isinstance(term, ErrorCode):
            return term
        group = term.state.get(group_id)
        if group is None:
            return dict.fromkeys(partitions or (), FetchedOffset(ErrorCode.NONE))
        offsets = group.offsets
        asked = offsets if partitions is None else partitions
        return {tp: _fetched(offsets, tp, require_stable) for tp in asked}

    # Deleting

    def delete(self, group_id: str, partitions: Sequence[TopicPartition]) -> Errors | ErrorCode:
        """At once, as Kafka does: a coordinator that fails now may bring them back (KIP-496)."""
        term = self._find(group_id) if group_id else ErrorCode.INVALID_GROUP_ID
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

    def bury(self, term: Term[GroupPartition], group: Group) -> None:
        """A group that is dead: its offsets go with it."""
        self._clean(term, group, lambda offsets: offsets.remove_all())

    def _look_for_expired(self) -> None:
        self._expiration.start((term, group) for term in self._partitions for group in term.state)
        self.start()

    def _expire(self, term: Term[GroupPartition], group: Group) -> None:
        retention = group.retention()
        if term.is_current and retention is not None:
            now_ms, retention_ms = self._scheduler.wall_ms(), self._settings.retention_ms
            self._clean(
                term,
                group,
                lambda offsets: offsets.remove(expired(offsets, retention, now_ms, retention_ms)),
            )

    def _clean(self, term: Term[GroupPartition], group: Group, select: Select) -> None:
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

    # Terms

    def _find(self, group_id: str) -> Term[GroupPartition] | ErrorCode:
        return self._settled(self._partitions.find(group_id))

    def _settled(self, found: Term[GroupPartition] | ErrorCode) -> Term[GroupPartition] | ErrorCode:
        if not isinstance(found, ErrorCode):
            found.state.settle_doubts(found.partition.replica.high_watermark)
        return found


def _fetched(
    offsets: GroupOffsets, partition: TopicPartition, require_stable: bool
) -> FetchedOffset:
    if require_stable and offsets.is_unstable(partition):
        return FetchedOffset(ErrorCode.UNSTABLE_OFFSET_COMMIT)
    return FetchedOffset(ErrorCode.NONE, offsets.get(partition))
