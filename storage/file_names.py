"""Names inside a log directory, as Kafka 3.9 writes them (LogFileUtils, LocalLog).

orders-0/00000000000000000000.log            one partition's folder and its files
orders-0.<32 hex digits>-delete/             a partition that waits for its removal
"""

from __future__ import annotations

import re

LOG_SUFFIX = ".log"
OFFSET_INDEX_SUFFIX = ".index"
TIME_INDEX_SUFFIX = ".timeindex"
TRANSACTION_INDEX_SUFFIX = ".txnindex"
SNAPSHOT_SUFFIX = ".snapshot"
SEGMENT_SUFFIXES = (LOG_SUFFIX, OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX, TRANSACTION_INDEX_SUFFIX)
DELETED_FILE_SUFFIX = ".deleted"

_MAX_NAME_LENGTH = 255
_PARTITION_DIR = re.compile(r"(?P<topic>.+)-(?P<partition>[0-9]+)")
_DELETED_DIR = re.compile(r".+-[0-9]+\.[0-9a-f]+-delete")


def join(directory: str, name: str) -> str:
    return f"{directory}/{name}"


def parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def offset_file(base_offset: int, suffix: str) -> str:
    return f"{base_offset:020d}{suffix}"


def offset_of(name: str, suffix: str) -> int | None:
    """The offset that an offset-named file with this suffix carries; None for any other name."""
    digits = name.removesuffix(suffix)
    if digits == name or not digits.isdecimal():
        return None
    return int(digits)


def offsets_with(names: list[str], suffix: str) -> list[int]:
    """Offsets of all the offset-named files with this suffix, ascending."""
    found = (offset_of(name, suffix) for name in names)
    return sorted(offset for offset in found if offset is not None)


def partition_dir(topic: str, partition: int) -> str:
    return f"{topic}-{partition}"


def parse_partition_dir(name: str) -> tuple[str, int] | None:
    """Topic and partition of a live partition's folder; None for anything else."""
    match = _PARTITION_DIR.fullmatch(name)
    return (match["topic"], int(match["partition"])) if match else None


def deleted_dir(topic: str, partition: int, unique: str) -> str:
    """A folder name for a partition being deleted; the topic is cut to fit a file name."""
    suffix = f"-{partition}.{unique}-delete"
    return topic[: _MAX_NAME_LENGTH - len(suffix)] + suffix


def is_deleted_dir(name: str) -> bool:
    return _DELETED_DIR.fullmatch(name) is not None
