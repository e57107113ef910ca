"""Names inside a log directory, as Kafka 3.9 writes them (LogFileUtils, LocalLog).

orders-0/00000000000000000000.log            one partition's folder and its files
orders-0.<32 hex digits>-delete/             a partition that waits for its removal
orders-0.<32 hex digits>-future/             a copy that will take orders-0's place elsewhere
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from logquake.wire.topic_partition import TopicPartition

LOG_SUFFIX = ".log"
OFFSET_INDEX_SUFFIX = ".index"
TIME_INDEX_SUFFIX = ".timeindex"
TRANSACTION_INDEX_SUFFIX = ".txnindex"
SNAPSHOT_SUFFIX = ".snapshot"
SEGMENT_SUFFIXES = (LOG_SUFFIX, OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX, TRANSACTION_INDEX_SUFFIX)
DELETED_FILE_SUFFIX = ".deleted"
CLEANED_FILE_SUFFIX = ".cleaned"  # compaction writes it
SWAP_FILE_SUFFIX = ".swap"  # compaction is about to put it in place

_MAX_NAME_LENGTH = 255
_OFFSET = re.compile(r"[0-9]{20}")
_PARTITION_DIR = re.compile(r"(?P<topic>.+)-(?P<partition>[0-9]+)")
_DELETED_DIR = re.compile(r"(?P<topic>.+)-(?P<partition>[0-9]+)\.[0-9a-f]+-delete")
_FUTURE_DIR = re.compile(r"(?P<topic>.+)-(?P<partition>[0-9]+)\.[0-9a-f]+-future")


def join(directory: str, name: str) -> str:
    return f"{directory}/{name}"


def parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def last_part(path: str) -> str:
    return path.rpartition("/")[2]


def offset_file(base_offset: int, suffix: str) -> str:
    return f"{base_offset:020d}{suffix}"


def segment_files(base_offset: int, mark: str) -> list[str]:
    """Names of a segment's files, its log first; mark is what their names end in."""
    return [offset_file(base_offset, suffix + mark) for suffix in SEGMENT_SUFFIXES]


def leading_offset(name: str) -> int:
    """The offset before the first dot of an offset-named file, whatever follows. ValueError."""
    return int(name.partition(".")[0])


def offset_of(name: str, suffix: str) -> int | None:
    """The offset that an offset-named file with this suffix carries; None for any other name."""
    if not name.endswith(suffix):
        return None
    digits = name.removesuffix(suffix)
    return int(digits) if _OFFSET.fullmatch(digits) else None


def marked_files(found: Iterable[str], mark: str) -> list[str]:
    """Those of a log's own files whose names end in mark; others, whoever put them there, do not
    count.
    """
    marked = [name for name in found if name.endswith(mark)]  # none, of nearly every log
    suffixes = [suffix + mark for suffix in (*SEGMENT_SUFFIXES, SNAPSHOT_SUFFIX)]
    return [name for name in marked if any(offset_of(name, each) is not None for each in suffixes)]


def offsets_with(names: list[str], suffix: str) -> list[int]:
    """Offsets of all the offset-named files with this suffix, ascending."""
    found = (offset_of(name, suffix) for name in names)
    return sorted(offset for offset in found if offset is not None)


def partition_dir(topic: str, partition: int) -> str:
    return f"{topic}-{partition}"


def parse_partition_dir(name: str) -> TopicPartition | None:
    """Topic and partition of a live partition's folder; None for anything else."""
    return _topic_partition(_PARTITION_DIR.fullmatch(name))


def deleted_dir(topic: str, partition: int, unique: str) -> str:
    """A folder name for a partition being deleted; the topic is cut to fit a file name."""
    suffix = f"-{partition}.{unique}-delete"
    return topic[: _MAX_NAME_LENGTH - len(suffix)] + suffix


def is_deleted_dir(name: str) -> bool:
    return _DELETED_DIR.fullmatch(name) is not None


def parse_deleted_dir(name: str) -> TopicPartition | None:
    """Whose folder it was, the topic's name cut where it was too long; None for anything else."""
    return _topic_partition(_DELETED_DIR.fullmatch(name))


def future_dir(topic: str, partition: int, unique: str) -> str:
    return f"{topic}-{partition}.{unique}-future"


def fits_a_name(name: str) -> bool:
    """Whether a file system takes it (KAFKA-4893: a topic's name may be too long to be moved)."""
    return len(name) <= _MAX_NAME_LENGTH


def parse_future_dir(name: str) -> TopicPartition | None:
    return _topic_partition(_FUTURE_DIR.fullmatch(name))


def _topic_partition(match: re.Match[str] | None) -> TopicPartition | None:
    return TopicPartition(match["topic"], int(match["partition"])) if match else None
