"""The small text files of a log directory, in Kafka's format: a version line, the number of
entries, then one entry a line (CheckpointFile, OffsetCheckpointFile, LeaderEpochCheckpointFile).

A file that is damaged reads as none at all where Kafka starts over from what it can find out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from logquake.storage.disk.seam import Disk
from logquake.wire.topic_partition import TopicPartition

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
LOG_START_OFFSETS = "log-start-offset-checkpoint"
CLEANER_OFFSETS = "cleaner-offset-checkpoint"
LEADER_EPOCHS = "leader-epoch-checkpoint"

_VERSION = "0"


class DamagedCheckpointError(Exception):
    """The file is not in this format; its path and the offending line are in the message."""


def read_offsets(disk: Disk, path: str) -> dict[TopicPartition, int]:
    """Offsets by partition; empty without the file. Raises DamagedCheckpointError, OSError."""
    offsets: dict[TopicPartition, int] = {}
    for entry in _read(disk, path, fields=3):
        topic, partition, offset = entry
        offsets[TopicPartition(topic, _number(partition, path))] = _number(offset, path)
    return offsets


def write_offsets(disk: Disk, path: str, offsets: Mapping[TopicPartition, int]) -> None:
    entries = (
        f"{topic} {partition} {offset}" for (topic, partition), offset in sorted(offsets.items())
    )
    disk.replace(path, _content(entries))


def read_epochs(disk: Disk, path: str) -> list[tuple[int, int]]:
    """(leader epoch, start offset) pairs in file order; empty without the file."""
    entries = _read(disk, path, fields=2)
    return [(_number(epoch, path), _number(start, path)) for epoch, start in entries]


def write_epochs(
    disk: Disk, path: str, entries: Iterable[tuple[int, int]], *, synced: bool = True
) -> None:
    """Unless synced, a loss of power may leave what was there before, or a part of this."""
    content = _content(f"{epoch} {start}" for epoch, start in entries)
    if synced:
        disk.replace(path, content)
    else:
        _replace_unsynced(disk, path, content)


def _replace_unsynced(disk: Disk, path: str, content: bytes) -> None:
    temporary = f"{path}.tmp"
    file = disk.open(temporary, create=True)
    file.truncate(0)
    file.pwritev([content], 0)
    file.close()
    disk.rename(temporary, path)


def _content(entries: Iterable[str]) -> bytes:
    lines = list(entries)
    return ("\n".join([_VERSION, str(len(lines)), *lines]) + "\n").encode()


def _read(disk: Disk, path: str, fields: int) -> list[list[str]]:
    try:
        text = disk.read(path).decode()
    except FileNotFoundError:
        return []
    except UnicodeDecodeError as error:
        raise DamagedCheckpointError(f"{path} is not text") from error
    if not text:
        return []
    if not text.endswith("\n"):  # cut off by a loss of power: its last number may be, too
        raise DamagedCheckpointError(f"{path} ends in the midst of a line")
    lines = text.splitlines()
    entries = [line.split() for line in lines[2:]]
    if lines[0] != _VERSION or len(lines) < 2 or len(entries) != _number(lines[1], path):
        raise DamagedCheckpointError(
            f"{path} begins with {lines[:2]} and has {len(entries)} entries"
        )
    for entry in entries:
        if len(entry) != fields:
            raise DamagedCheckpointError(f"{path} has the line {' '.join(entry)!r}")
    return entries


def _number(text: str, path: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise DamagedCheckpointError(f"{path} has {text!r} for a number") from error
