"""Putting cleaned segments in the place of others so that a crash at any point can be made good.

Kafka's protocol (LocalLog.replaceSegments, LogLoader):

    .cleaned        being written; a crash: removed
    .swap           whole and durable, the old ones still there; a crash: the swap is finished
    (no mark)       the old ones are .deleted, and removed some time later

Caveat, as in Kafka: the order of renames must survive a loss of power, as journaling file systems
keep it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from logquake.storage import file_names as names
from logquake.storage.disk.seam import Disk
from logquake.storage.errors import DamagedFileError
from logquake.storage.log_config import LogConfig
from logquake.storage.segments.batch_walk import DamagedBatchError
from logquake.storage.segments.segment import Segment

_REPLACED_SUFFIXES = (*names.SEGMENT_SUFFIXES, names.SNAPSHOT_SUFFIX)


def swap_files(disk: Disk, directory: str, old: Sequence[Segment], new: Sequence[int]) -> list[str]:
    """Put cleaned segments, by base offset, in the place of old ones. Raises OSError.

    The paths, which end in .deleted, of what is left of the old ones. Nothing waits for the platter
    here.
    """
    for base_offset in reversed(new):
        _rename(disk, directory, base_offset, names.CLEANED_FILE_SUFFIX, names.SWAP_FILE_SUFFIX)
    left = [path for segment in old for path in segment.set_aside()]
    for base_offset in new:
        _rename(disk, directory, base_offset, names.SWAP_FILE_SUFFIX, "")
    return left


def finish_swaps(disk: Disk, directory: str, config: LogConfig) -> None:
    """Undo or finish what a crash interrupted, before the segments are opened. Raises OSError."""
    found = disk.list(directory)
    _remove(disk, directory, names.marked_files(found, names.DELETED_FILE_SUFFIX))
    swapped = whole_swaps(found)
    for mark in (names.SWAP_FILE_SUFFIX, names.CLEANED_FILE_SUFFIX):
        left = [name for name in names.marked_files(found, mark) if name not in swapped]
        _remove(disk, directory, left)
    if swapped:
        _remove(disk, directory, _replaced(disk, directory, config, found, swapped))
        for name in swapped:
            live = name.removesuffix(names.SWAP_FILE_SUFFIX)
            disk.rename(names.join(directory, name), names.join(directory, live))
        disk.sync_dir(directory)


def whole_swaps(found: list[str]) -> list[str]:
    """The files, of those in a folder, that the next start puts in the place of others.

    They are renamed in descending order: from one that is still .cleaned on, none may be whole.
    """
    cleaned = names.marked_files(found, names.CLEANED_FILE_SUFFIX)
    first_cleaned = min(map(names.leading_offset, cleaned), default=None)
    return [
        name
        for name in names.marked_files(found, names.SWAP_FILE_SUFFIX)
        if first_cleaned is None or names.leading_offset(name) < first_cleaned
    ]


def _replaced(
    disk: Disk, directory: str, config: LogConfig, found: list[str], swapped: list[str]
) -> list[str]:
    """Files of the log that the offsets of the swapped segments lie over."""
    marked_log = names.LOG_SUFFIX + names.SWAP_FILE_SUFFIX
    bases = names.offsets_with(swapped, marked_log)
    if not bases:
        return []
    ends = [_end_offset(disk, directory, base_offset, config) for base_offset in bases]
    replaced = range(min(bases), max(ends))
    return [
        name
        for suffix in _REPLACED_SUFFIXES
        for name in found
        if names.offset_of(name, suffix) in replaced
    ]


def _end_offset(disk: Disk, directory: str, base_offset: int, config: LogConfig) -> int:
    segment = Segment.open(disk, directory, base_offset, config, names.SWAP_FILE_SUFFIX)
    try:
        return segment.next_offset()
    except DamagedBatchError as error:
        raise DamagedFileError(f"{segment.log_path} {error}") from error
    finally:
        segment.release()


def _rename(disk: Disk, directory: str, base_offset: int, before: str, after: str) -> None:
    """Rename a segment's files, as many as there are: the end of their names changes."""
    for name in names.segment_files(base_offset, ""):
        source = names.join(directory, name + before)
        if disk.exists(source):
            disk.rename(source, names.join(directory, name + after))


def _remove(disk: Disk, directory: str, found: Iterable[str]) -> None:
    for name in found:
        disk.remove(names.join(directory, name))
