"""Committing and fetching offsets: what a request means for a term.

GroupCoordinator's handleCommitOffsets, handleTxnCommitOffsets and handleFetchOffsets,
GroupMetadataManager's storeOffsets and getOffsets. A commit is answered, and to be seen, once it is
replicated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from logquake.node.coordinators.append_errors import OF_OFFSETS, told_as
from logquake.node.coordinators.groups.carrying_out import CarryingOut
from logquake.node.coordinators.groups.group import Committer, Group
from logquake.node.coordinators.groups.offsets.committed import OffsetAndMetadata
from logquake.node.coordinators.groups.offsets.group_offsets import GroupOffsets, PendingCommit
from logquake.node.coordinators.groups.offsets.records import (
    NO_PRODUCER,
    Producer,
    commit_batch,
)
from logquake.node.coordinators.groups.offsets.settings import OffsetSettings
from logquake.node.coordinators.groups.terms import GroupPartitions, GroupTerm, settled
from logquake.node.replication.transactions.add_partitions_to_txn import TransactionalProducer
from logquake.node.replication.transactions.verification import TransactionVerification, Verdicts
from logquake.seams.scheduler import Scheduler
from logquake.storage.producers.verification import VerificationGuard
from logquake.wire.errors import ErrorCode
from logquake.wire.java_text import java_length
from logquake.wire.sentinels import NO_SEQUENCE
from logquake.wire.topic_partition import TopicPartition

Offsets = Mapping[TopicPartition, OffsetAndMetadata]
Errors = Mapping[TopicPartition, ErrorCode]


class FetchedOffset(NamedTuple):
    """``value`` is None where nothing is committed."""

    error: ErrorCode
    value: OffsetAndMetadata | None = None


class OffsetManager:
    def __init__(
        self,
        partitions: GroupPartitions,
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

    # Committing

    def commit(
        self, group_id: str, who: Committer, offsets: Offsets, done: Callable[[Errors], None]
    ) -> None:
        """done gets an error for each partition, at once or when the commit is replicated."""
        term = settled(self._partitions.find(group_id))
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
        term = settled(self._partitions.find(group_id)) if group_id else ErrorCode.INVALID_GROUP_ID
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
        term: GroupTerm,
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
        settings, now_ms = self._settings, self._scheduler.wall_ms()
        try:
            batch = commit_batch(group.group_id, fit, now_ms, settings.compression, producer)
        except ValueError:  # metadata whose bytes were no UTF-8 grew longer than a record can have
            done(dict.fromkeys(offsets, ErrorCode.UNKNOWN_SERVER_ERROR))
            return
        commit = PendingCommit(fit, producer.producer_id)
        group.offsets.begin(commit)

        def appended(error: ErrorCode, batch_offset: int) -> None:
            term.state.settle(group, commit, error, batch_offset)
            told = told_as(error, OF_OFFSETS)
            too_large = ErrorCode.OFFSET_METADATA_TOO_LARGE
            done({partition: told if partition in fit else too_large for partition in offsets})

        acks, timeout_ms = settings.commit_required_acks, settings.commit_timeout_ms
        term.append(batch, acks, timeout_ms, appended, guard=guard)

    def _fits(self, value: OffsetAndMetadata) -> bool:
        return java_length(value.metadata) <= self._settings.max_metadata_size

    def on_transaction_completed(
        self, producer_id: int, partitions: Iterable[int], *, committed: bool
    ) -> None:
        """The producer's marker is in these partitions of __consumer_offsets, and replicated.

        One that is being loaded finds it in its log.
        """
        for index in partitions:
            term = settled(self._partitions.find_at(index))
            if not isinstance(term, ErrorCode):
                term.state.replay_marker(producer_id, committed=committed)

    # Fetching

    def fetch(
        self, group_id: str, partitions: Iterable[TopicPartition] | None, *, require_stable: bool
    ) -> dict[TopicPartition, FetchedOffset] | ErrorCode:
        """Of these partitions, or of all with an offset. Whoever asks need not be a member."""
        term = settled(self._partitions.find(group_id))
        if isinstance(term, ErrorCode):
            return term
        group = term.state.get(group_id)
        if group is None:
            return dict.fromkeys(partitions or (), FetchedOffset(ErrorCode.NONE))
        offsets = group.offsets
        asked = offsets if partitions is None else partitions
        return {tp: _fetched(offsets, tp, require_stable) for tp in asked}


def _fetched(
    offsets: GroupOffsets, partition: TopicPartition, require_stable: bool
) -> FetchedOffset:
    if require_stable and offsets.is_unstable(partition):
        return FetchedOffset(ErrorCode.UNSTABLE_OFFSET_COMMIT)
    return FetchedOffset(ErrorCode.NONE, offsets.get(partition))
