"""Partitions: offsets and records, leaders, replicas, and where these are stored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from logquake.client.admin import log_dirs, reassignments
from logquake.client.admin.calls.calling import Calling
from logquake.client.admin.log_dirs import (
    LogDirDescription,
    ReplicaLogDirInfo,
    TopicPartitionReplica,
)
from logquake.client.admin.offsets import (
    DeletedRecords,
    DeleteRecords,
    ListOffsets,
    ListOffsetsResultInfo,
)
from logquake.client.admin.reassignments import ElectionType, PartitionReassignment
from logquake.client.errors import ClientError, broker_error
from logquake.client.isolation import Isolation
from logquake.client.pending import Promise
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition


class PartitionCalls(Calling):
    def list_offsets(
        self,
        specs: Mapping[TopicPartition, int],
        *,
        isolation_level: Isolation = Isolation.READ_UNCOMMITTED,
        timeout_ms: int | None = None,
    ) -> dict[TopicPartition, Promise[ListOffsetsResultInfo]]:
        """Specs are `OffsetSpec`s, or Unix times in milliseconds: the first record since then."""
        return self._keyed(ListOffsets(specs, isolation_level), specs, timeout_ms)

    def delete_records(
        self, before: Mapping[TopicPartition, int], *, timeout_ms: int | None = None
    ) -> dict[TopicPartition, Promise[DeletedRecords]]:
        """Delete records before an offset; HIGH_WATERMARK deletes all that are committed."""
        patience_ms = self._makings.default_api_timeout_ms if timeout_ms is None else timeout_ms
        return self._keyed(DeleteRecords(before, patience_ms), before, timeout_ms)

    # Leaders and replicas

    def elect_leaders(
        self,
        election_type: ElectionType,
        partitions: Collection[TopicPartition] | None,
        *,
        timeout_ms: int | None = None,
    ) -> Promise[Mapping[TopicPartition, ClientError | None]]:
        """An error, or None, each. With None as partitions, all are examined, and the result has
        those that needed an election.
        """
        return self._one(
            "electLeaders",
            lambda results: reassignments.elect_leaders(election_type, partitions, results),
            timeout_ms,
        )

    def alter_partition_reassignments(
        self,
        targets: Mapping[TopicPartition, Sequence[int] | None],
        *,
        timeout_ms: int | None = None,
    ) -> dict[TopicPartition, Promise[None]]:
        """Move to these replicas, the preferred leader first; None cancels a move."""
        return self._each(
            "alterPartitionReassignments",
            targets,
            lambda left, results: reassignments.alter_partition_reassignments(
                {place: targets[place] for place in left}, results
            ),
            timeout_ms,
            _unnameable(targets),
        )

    def list_partition_reassignments(
        self,
        partitions: Collection[TopicPartition] | None = None,
        *,
        timeout_ms: int | None = None,
    ) -> Promise[Mapping[TopicPartition, PartitionReassignment]]:
        """The moves in progress, of these partitions or of all."""
        for error in _unnameable(partitions or ()).values():
            promise = self._promise()
            promise.settle(error)
            return promise
        return self._one(
            "listPartitionReassignments",
            lambda results: reassignments.list_partition_reassignments(partitions, results),
            timeout_ms,
        )

    # Log directories

    def describe_log_dirs(
        self, brokers: Iterable[int], *, timeout_ms: int | None = None
    ) -> dict[int, Promise[Mapping[str, LogDirDescription]]]:
        """By broker id, and by the directory's path."""
        return self._by_whom(
            "describeLogDirs",
            [(broker_id, [broker_id]) for broker_id in dict.fromkeys(brokers)],
            lambda broker_id, _, results: log_dirs.describe_log_dirs(broker_id, results),
            timeout_ms,
        )

    def describe_replica_log_dirs(
        self, replicas: Iterable[TopicPartitionReplica], *, timeout_ms: int | None = None
    ) -> dict[TopicPartitionReplica, Promise[ReplicaLogDirInfo]]:
        return self._by_whom(
            "describeReplicaLogDirs",
            _by_broker(replicas),
            log_dirs.describe_replica_log_dirs,
            timeout_ms,
        )

    def alter_replica_log_dirs(
        self, moves: Mapping[TopicPartitionReplica, str], *, timeout_ms: int | None = None
    ) -> dict[TopicPartitionReplica, Promise[None]]:
        """Each to a directory of its broker; the move completes when the copy has caught up."""
        return self._by_whom(
            "alterReplicaLogDirs",
            _by_broker(moves),
            lambda broker_id, left, results: log_dirs.alter_replica_log_dirs(
                broker_id, {replica: moves[replica] for replica in left}, results
            ),
            timeout_ms,
        )


def _by_broker(
    replicas: Iterable[TopicPartitionReplica],
) -> list[tuple[int, list[TopicPartitionReplica]]]:
    found: dict[int, list[TopicPartitionReplica]] = {}
    for replica in dict.fromkeys(replicas):
        found.setdefault(replica.broker_id, []).append(replica)
    return list(found.items())


def _unnameable(places: Iterable[TopicPartition]) -> dict[TopicPartition, ClientError]:
    """Errors for partitions that no request can name."""
    return {
        place: broker_error(ErrorCode.INVALID_TOPIC_EXCEPTION, f"no such partition: {place}")
        for place in places
        if not place.topic or place.partition < 0
    }
