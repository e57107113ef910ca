"""AlterReplicaLogDirs (34), versions 0-2: replicas move between a broker's directories (KIP-113).

The answer says that a move has begun; DescribeLogDirs shows how far it is. A replica that is not
hosted yet is answered REPLICA_NOT_AVAILABLE, and made in that directory when it comes.
"""

from __future__ import annotations

from logquake.node.replication.moves.moves import ReplicaMoves
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.messages.log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from logquake.wire.topic_partition import TopicPartition


class AlterReplicaLogDirs(Handler[AlterReplicaLogDirsRequest]):
    key = ApiKey.ALTER_REPLICA_LOG_DIRS
    versions = range(3)

    def __init__(self, moves: ReplicaMoves) -> None:
        self._moves = moves

    def handle(self, request: Request, body: AlterReplicaLogDirsRequest) -> None:
        results: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
        for (topic, index), path in _targets(body).items():
            results.setdefault(topic, []).append(
                AlterReplicaLogDirPartitionResult(
                    partition_index=index, error_code=self._moves.alter(topic, index, path)
                )
            )
        request.reply(
            AlterReplicaLogDirsResponse(
                results=[
                    AlterReplicaLogDirTopicResult(topic_name=topic, partitions=partitions)
                    for topic, partitions in results.items()
                ]
            )
        )


def _targets(body: AlterReplicaLogDirsRequest) -> dict[TopicPartition, str]:
    """A partition that is named twice goes where it is sent last."""
    return {
        TopicPartition(topic.name, index): target.path
        for target in body.dirs
        for topic in target.topics
        for index in topic.partitions
    }
