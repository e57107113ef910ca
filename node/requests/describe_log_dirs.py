"""DescribeLogDirs (35), versions 0-4: what lies in this broker's log directories (KIP-113).

Version 4 tells the room on their file systems (KIP-827), which is asked on a worker thread: a file
system that hangs does not hold up the others' requests. A directory that failed is named with
KAFKA_STORAGE_ERROR and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import Future

from logquake.node.replication.log_dir_sizes import LogDirSizes, LogSize
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.seams.workers import Workers
from logquake.storage.dirs.log_dir import LogDir
from logquake.storage.disk.seam import DiskSpace
from logquake.storage.errors import StorageError
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from logquake.wire.topic_partition import TopicPartition


class DescribeLogDirs(Handler[DescribeLogDirsRequest]):
    key = ApiKey.DESCRIBE_LOG_DIRS
    versions = range(5)

    def __init__(self, sizes: LogDirSizes, workers: Workers) -> None:
        self._sizes = sizes
        self._workers = workers

    def handle(self, request: Request, body: DescribeLogDirsRequest) -> None:
        online = self._sizes.online

        def answer(asked: Future[dict[str, DiskSpace]]) -> None:
            request.reply(self._describe(_wanted(body), asked.result()))

        self._workers.run_in_worker(lambda: _ask_space(online), answer)

    def _describe(
        self, wanted: Collection[TopicPartition] | None, spaces: dict[str, DiskSpace]
    ) -> DescribeLogDirsResponse:
        still_online = {directory.path for directory in self._sizes.online}
        return DescribeLogDirsResponse(
            results=[
                self._directory(path, wanted, spaces[path])
                if path in spaces and path in still_online
                else DescribeLogDirsResult(error_code=ErrorCode.KAFKA_STORAGE_ERROR, log_dir=path)
                for path in self._sizes.paths
            ]
        )

    def _directory(
        self, path: str, wanted: Collection[TopicPartition] | None, space: DiskSpace
    ) -> DescribeLogDirsResult:
        topics: dict[str, list[DescribeLogDirsPartition]] = {}
        for log in self._sizes.logs(path, wanted):
            topics.setdefault(log.topic, []).append(_partition(log))
        return DescribeLogDirsResult(
            log_dir=path,
            topics=[
                DescribeLogDirsTopic(name=name, partitions=partitions)
                for name, partitions in topics.items()
            ],
            total_bytes=space.total,
            usable_bytes=space.usable,
        )


def _wanted(body: DescribeLogDirsRequest) -> set[TopicPartition] | None:
    """None for all."""
    if body.topics is None:
        return None
    return {
        TopicPartition(topic.topic, index) for topic in body.topics for index in topic.partitions
    }


def _partition(log: LogSize) -> DescribeLogDirsPartition:
    return DescribeLogDirsPartition(
        partition_index=log.partition,
        partition_size=log.size,
        offset_lag=log.lag,
        is_future_key=log.is_future,
    )


def _ask_space(directories: list[LogDir]) -> dict[str, DiskSpace]:
    """By path, of those that answer."""
    spaces = {}
    for directory in directories:
        try:
            spaces[directory.path] = directory.space()
        except StorageError:
            continue  # told as failed in this answer; whoever writes there takes it offline
    return spaces
