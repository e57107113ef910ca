"""The rules that Kafka holds a log's files to when it opens them (sanityCheck of its indexes),
and some that it does not check: an index entry stands for a batch, and nothing is left lying about.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from logquake.storage.log_config import LogConfig
from logquake.wire.records import BatchHeader, iterate_batches
from tests.doubles.memory_disk import MemoryDisk

_OFFSET_ENTRY = struct.Struct(">ii")
_TIME_ENTRY = struct.Struct(">qi")
_EXPECTED_NAME = re.compile(
    r"\d{20}\.(log|index|timeindex|txnindex|snapshot)"
    r"|(leader-epoch-checkpoint|partition\.metadata)(\.tmp)?"
)


@dataclass(frozen=True, slots=True)
class _Batch:
    position: int
    header: BatchHeader


def check_files(disk: MemoryDisk, directory: str, config: LogConfig, *, closed: bool) -> None:
    """closed: after a clean stop, when the active segment's indexes are trimmed too."""
    found = disk.list(directory)
    strange = [name for name in found if not _EXPECTED_NAME.fullmatch(name)]
    assert not strange
    bases = sorted(int(name[:20]) for name in found if name.endswith(".log"))
    for name in found:
        if name.endswith(("index", ".timeindex")):
            assert int(name[:20]) in bases
    for base in bases:
        _check_segment(
            disk, f"{directory}/{base:020d}", base, config, base == bases[-1] and not closed
        )


def _check_segment(
    disk: MemoryDisk, path: str, base: int, config: LogConfig, is_active: bool
) -> None:
    content = memoryview(disk.read(f"{path}.log"))
    batches = [_Batch(*found) for found in iterate_batches(content)]
    assert sum(batch.header.size for batch in batches) == len(content)
    offsets = _entries(disk, f"{path}.index", _OFFSET_ENTRY, config, is_active)
    times = _entries(disk, f"{path}.timeindex", _TIME_ENTRY, config, is_active)
    _check_offset_index(offsets, base, batches)
    _check_time_index(times, base, batches, is_sealed=not is_active)


def _entries(
    disk: MemoryDisk, path: str, entry: struct.Struct, config: LogConfig, is_active: bool
) -> list[tuple[int, int]]:
    content = disk.read(path)
    assert len(content) % entry.size == 0
    if not is_active:
        return list(entry.iter_unpack(content))
    assert len(content) == config.index_max_bytes // entry.size * entry.size
    return [found for found in entry.iter_unpack(content) if found != (0, 0)]


def _check_offset_index(entries: list[tuple[int, int]], base: int, batches: list[_Batch]) -> None:
    places = {(batch.header.last_offset - base, batch.position) for batch in batches}
    assert entries == sorted(set(entries))
    assert set(entries) <= places


def _check_time_index(
    entries: list[tuple[int, int]], base: int, batches: list[_Batch], *, is_sealed: bool
) -> None:
    assert [entry[0] for entry in entries] == sorted({entry[0] for entry in entries})
    assert [entry[1] for entry in entries] == sorted({entry[1] for entry in entries})
    for timestamp, relative_offset in entries:
        until = [
            batch.header.max_timestamp
            for batch in batches
            if batch.header.last_offset <= base + relative_offset
        ]
        assert until
        assert max(until) == timestamp
    if is_sealed and batches:
        assert entries[-1][0] == max(batch.header.max_timestamp for batch in batches)
