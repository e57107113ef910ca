"""The indexes of one full segment, read when a read or a look-up first needs them.

One entry a batch of 16 KiB, as in a segment of 1 GiB that a default producer filled. The limit: the
files' bytes in an array, swapped to this machine's order. Kafka maps them and reads what it needs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figures
from benchmarks.rounds import Case
from benchmarks.storage.raw_lookup import offset_entries
from benchmarks.storage.sides import Side, contest, cpu_seconds
from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.segments.index_file import OffsetIndex, TimeIndex

_BATCH_BYTES = 16 * 1024
_RECORDS = 15
_FIRST_MS = 1_700_000_000_000
_MAX_INDEX_BYTES = 10_485_760


def index_load_cases(folder: Path, entries: int) -> Iterator[Case[Side]]:
    with tempfile.TemporaryDirectory(dir=folder) as made:
        place = Path(made)
        _write(place, entries)
        yield contest(f"indexes of {entries} entries", lambda: _ours(place), lambda: _limit(place))


def _indexes(place: Path) -> tuple[OffsetIndex, TimeIndex]:
    disk = RealDisk()
    return (
        OffsetIndex(disk, str(place / "0.index"), 0, _MAX_INDEX_BYTES),
        TimeIndex(disk, str(place / "0.timeindex"), 0, _MAX_INDEX_BYTES),
    )


def _write(place: Path, entries: int) -> None:
    offsets, times = _indexes(place)
    for number in range(1, entries + 1):
        offsets.append(number * _RECORDS, number * _BATCH_BYTES)
        times.append_if_newer(_FIRST_MS + number, number * _RECORDS)
    offsets.trim()
    times.trim()


def _ours(place: Path) -> Figures:
    indexes = _indexes(place)

    def work() -> None:
        for index in indexes:
            index.load()

    return _figures(cpu_seconds(work))


def _limit(place: Path) -> Figures:
    paths = [place / "0.index", place / "0.timeindex"]

    def work() -> None:
        for path in paths:
            offset_entries(path)

    return _figures(cpu_seconds(work))


def _figures(seconds: float) -> Figures:
    return {"ms/segment": seconds * 1e3}
