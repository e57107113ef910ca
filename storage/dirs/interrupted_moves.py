"""What a start makes of partitions that lie in two directories, or only half in one.

A move renames the current log away and then gives the future its name. A crash between the two
leaves a future alone, beside a folder set aside that held the same partition of the same topic: the
move is completed. Any other future without a current log is left to itself, as in Kafka.

Kafka renames in the other order; what its crash leaves, a partition with two logs, only a person
can decide about.
"""

from __future__ import annotations

from collections.abc import Collection

from logquake.storage.dirs.log_dir import LogDir
from logquake.storage.errors import LogDirError
from logquake.storage.log.log import Log
from logquake.wire.topic_partition import TopicPartition


def check_distinct(directories: Collection[LogDir]) -> None:
    """Raises LogDirError for a log, a future or a directory.id that is there twice."""
    logs: dict[TopicPartition, Log] = {}
    futures: dict[TopicPartition, Log] = {}
    ids: dict[str, str] = {}
    for directory in directories:
        for key, log in directory.logs.items():
            _take(logs, key, log)
        for key, future in directory.futures.items():
            _take(futures, key, future)
        if directory.directory_id is not None:
            other = ids.setdefault(directory.directory_id, directory.path)
            if other != directory.path:
                raise LogDirError(
                    f"{other} and {directory.path} have the same directory.id: one is a copy of "
                    "the other, leave it out of log.dirs"
                )


def finish_interrupted_moves(directories: Collection[LogDir]) -> None:
    """Only with every directory online: else the current log may be in the one that is not.

    Raises StorageError.
    """
    current = {key for directory in directories for key in directory.logs}
    for directory in directories:
        for key, future in sorted(directory.futures.items(), key=lambda i: i[0]):
            if key not in current and any(
                each.deleted.holds(key, future.topic_id) for each in directories
            ):
                directory.promote_future(*key)


def _take(found: dict[TopicPartition, Log], key: TopicPartition, log: Log) -> None:
    other = found.setdefault(key, log)
    if other is not log:
        raise LogDirError(
            f"{key} lies in two log directories, {other.directory} and "
            f"{log.directory}: remove the older one, most likely that of the disk that failed last"
        )
