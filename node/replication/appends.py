"""Produced records of one pass: staged as they come, written together at the pass's end.

One write a partition and pass, however many requests brought records for it. Nothing is answered
before its records are written, whatever its acks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from logquake.node.metadata.topic_names import is_internal
from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.partition import leading
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.partition.roles import Offline
from logquake.node.replication.purgatories.delayed_produce import (
    Done,
    ProducePurgatory,
    Write,
    verdict,
)
from logquake.node.replication.values import ProduceEntry, ProduceResult
from logquake.storage.errors import StorageError
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import RejectedRecordsError
from logquake.wire.sentinels import ACKS_ALL, NO_LEADER_EPOCH

# What Kafka counts as the usual refusals: their answers do not say where the log starts.
_WITHOUT_LOG_START = frozenset(
    {
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.RECORD_LIST_TOO_LARGE,
        ErrorCode.CORRUPT_MESSAGE,
    }
)


class _Append(NamedTuple):
    """A request whose records are staged."""

    results: list[ProduceResult]
    writes: list[Write]
    acks: int
    timeout_ms: int
    done: Done


class Appends:
    def __init__(self, hosted: HostedPartitions, purgatory: ProducePurgatory) -> None:
        self._hosted = hosted
        self._purgatory = purgatory
        self._staged: dict[Partition, None] = {}
        self._appends: list[_Append] = []

    @property
    def pending(self) -> bool:
        return bool(self._appends)

    def add(
        self,
        entries: Sequence[ProduceEntry],
        acks: int,
        timeout_ms: int,
        done: Done,
        *,
        internal: bool = False,
    ) -> bool:
        """Stage each entry's batch in the partition that this broker leads.

        done is called with the results in order: at the end of the pass for acks 0 and 1, for
        ACKS_ALL when the in-sync replicas have the records or timeout_ms is over. ``internal``
        writes are the broker's own: to Kafka's internal topics, and of any producer. Whether the
        results wait for followers.
        """
        writes: list[Write] = []
        results = [self._stage(entry, acks, writes, internal=internal) for entry in entries]
        self._appends.append(_Append(results, writes, acks, timeout_ms, done))
        return acks == ACKS_ALL and any(write.leader.followers for write in writes)

    def complete(self) -> None:
        """Write what is staged, and answer what need not wait for followers."""
        staged, self._staged = self._staged, {}
        for partition in staged:
            _commit(partition)
        appends, self._appends = self._appends, []
        for append in appends:
            if append.acks == ACKS_ALL:
                self._await_replication(append)
            else:
                _answer(append)

    def _stage(
        self, entry: ProduceEntry, acks: int, writes: list[Write], *, internal: bool
    ) -> ProduceResult:
        result = ProduceResult(entry.topic, entry.partition)
        if not internal and is_internal(entry.topic):
            result.error = ErrorCode.INVALID_TOPIC_EXCEPTION
            return result
        partition = self._hosted.locate(entry.topic, entry.partition)
        if isinstance(partition, ErrorCode):
            result.error = partition
            return result
        leader = partition.leader
        if leader is None:
            result.error = partition.access_error(NO_LEADER_EPOCH, only_leader=True)
            result.current_leader = partition.leader_hint()
            return result
        try:
            appended = leading.stage(partition, leader, entry, acks, internal=internal)
        except RecordError as error:
            _refuse(result, error, partition)
            return result
        except StorageError as error:
            partition.go_offline(str(error))
            result.error = ErrorCode.KAFKA_STORAGE_ERROR
            return result
        if isinstance(appended, ErrorCode):
            result.error, result.log_start_offset = appended, partition.replica.start
            return result
        self._staged[partition] = None
        result.base_offset = appended.first_offset
        result.log_append_time_ms = appended.log_append_time_ms
        result.log_start_offset = partition.replica.start
        writes.append(Write(partition, leader, appended.last_offset + 1, result))
        return result

    def _await_replication(self, append: _Append) -> None:
        waiting: list[Write] = []
        for write in append.writes:
            error = verdict(write)
            if error is None:
                waiting.append(write)
            else:
                write.result.error = error
        if waiting:
            self._purgatory.add(append.results, waiting, append.timeout_ms, append.done)
        else:
            append.done(append.results)


def _commit(partition: Partition) -> None:
    """Write one partition's stage. Where the role has changed since, that was done already."""
    leader = partition.leader
    if leader is None:
        return
    try:
        partition.replica.log.commit()
    except StorageError as error:
        partition.go_offline(str(error))
        return
    leading.advance_high_watermark(partition, leader)
    partition.context.touched(partition)


def _refuse(result: ProduceResult, error: RecordError, partition: Partition) -> None:
    """As ReplicaManager.appendToLocalLog: texts go out for single records alone (KIP-467)."""
    result.error = error.code
    if isinstance(error, RejectedRecordsError):
        result.error_message, result.record_errors = error.detail, error.record_errors
    if error.code not in _WITHOUT_LOG_START:
        result.log_start_offset = partition.replica.start


def _answer(append: _Append) -> None:
    """acks=0 and acks=1: the leader's own log is enough."""
    for write in append.writes:
        if isinstance(write.partition.role, Offline):
            write.result.error = ErrorCode.KAFKA_STORAGE_ERROR
    append.done(append.results)
