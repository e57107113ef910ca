"""The log directories of brokers: their contents, and moving replicas between them (KIP-113)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from logquake.client.admin.asking.asks import Ask, Asks, Broker, Reply, fixed
from logquake.client.admin.asking.refusals import refusal
from logquake.client.admin.asking.results import Results
from logquake.client.consumer.assignors.subscriptions import by_topic
from logquake.client.errors import BrokerError, ClientError, broker_error
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)
from logquake.wire.topic_partition import TopicPartition


class TopicPartitionReplica(NamedTuple):
    topic: str
    partition: int
    broker_id: int

    @property
    def place(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)


@dataclass(frozen=True, slots=True)
class ReplicaInfo:
    """``is_future``: it is being moved here, and lags the current one by ``offset_lag``."""

    size: int
    offset_lag: int
    is_future: bool


@dataclass(frozen=True, slots=True)
class LogDirDescription:
    """With ``error`` the directory is unusable. Bytes are None if the broker reports none."""

    error: ClientError | None
    replica_infos: Mapping[TopicPartition, ReplicaInfo]
    total_bytes: int | None
    usable_bytes: int | None


@dataclass(frozen=True, slots=True)
class ReplicaLogDirInfo:
    """Where a replica is and, during a move, will be; None if the broker does not have it."""

    current_dir: str | None = None
    current_lag: int = -1
    future_dir: str | None = None
    future_lag: int = -1


def describe_log_dirs(
    broker_id: int, results: Results[int, Mapping[str, LogDirDescription]]
) -> Asks:
    reply: Reply[DescribeLogDirsResponse] = yield Ask(
        Broker(broker_id), DescribeLogDirsResponse, fixed(DescribeLogDirsRequest(topics=None))
    )
    described = {each.log_dir: _description(each) for each in reply.message.results}
    # Before version 3 an unauthorized request gets neither directories nor an error.
    code = reply.message.error_code or ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    what = f"the log directories of broker {broker_id}"
    results.settle(broker_id, described or broker_error(code, what))


def _description(told: DescribeLogDirsResult) -> LogDirDescription:
    infos = {
        TopicPartition(topic.name, each.partition_index): ReplicaInfo(
            each.partition_size, each.offset_lag, each.is_future_key
        )
        for topic in told.topics
        for each in topic.partitions
    }
    return LogDirDescription(
        refusal(told.error_code, f"log directory {told.log_dir}"),
        infos,
        None if told.total_bytes < 0 else told.total_bytes,
        None if told.usable_bytes < 0 else told.usable_bytes,
    )


def describe_replica_log_dirs(
    broker_id: int,
    replicas: list[TopicPartitionReplica],
    results: Results[TopicPartitionReplica, ReplicaLogDirInfo],
) -> Asks:
    """For the replicas on one broker."""
    request = DescribeLogDirsRequest(
        topics=[
            DescribableLogDirTopic(topic=topic, partitions=partitions)
            for topic, partitions in by_topic(each.place for each in replicas).items()
        ]
    )
    reply: Reply[DescribeLogDirsResponse] = yield Ask(
        Broker(broker_id), DescribeLogDirsResponse, fixed(request)
    )
    dirs = [(each.log_dir, _description(each)) for each in reply.message.results]
    for _, description in dirs:
        if description.error is not None and not _is_offline(description.error):
            raise description.error
    for replica in replicas:
        results.settle(replica, _where(replica.place, dirs))


def _is_offline(error: ClientError) -> bool:
    """An offline directory does not report its replicas; others still do."""
    return isinstance(error, BrokerError) and error.code is ErrorCode.KAFKA_STORAGE_ERROR


def _where(
    place: TopicPartition, dirs: Iterable[tuple[str, LogDirDescription]]
) -> ReplicaLogDirInfo:
    current: tuple[str | None, int] = (None, -1)
    future: tuple[str | None, int] = (None, -1)
    for log_dir, description in dirs:
        info = description.replica_infos.get(place)
        if info is not None and info.is_future:
            future = (log_dir, info.offset_lag)
        elif info is not None:
            current = (log_dir, info.offset_lag)
    return ReplicaLogDirInfo(*current, *future)


def alter_replica_log_dirs(
    broker_id: int,
    moves: Mapping[TopicPartitionReplica, str],
    results: Results[TopicPartitionReplica, None],
) -> Asks:
    """For the replicas on one broker, each to one of its directories."""
    request = AlterReplicaLogDirsRequest(
        dirs=[
            AlterReplicaLogDir(
                path=path,
                topics=[
                    AlterReplicaLogDirTopic(name=topic, partitions=partitions)
                    for topic, partitions in by_topic(places).items()
                ],
            )
            for path, places in _by_dir(moves).items()
        ]
    )
    reply: Reply[AlterReplicaLogDirsResponse] = yield Ask(
        Broker(broker_id), AlterReplicaLogDirsResponse, fixed(request)
    )
    for topic in reply.message.results:
        for told in topic.partitions:
            replica = TopicPartitionReplica(topic.topic_name, told.partition_index, broker_id)
            results.settle(replica, refusal(told.error_code, f"moving {replica}"))


def _by_dir(moves: Mapping[TopicPartitionReplica, str]) -> dict[str, list[TopicPartition]]:
    found: dict[str, list[TopicPartition]] = {}
    for replica, path in moves.items():
        found.setdefault(path, []).append(replica.place)
    return found
