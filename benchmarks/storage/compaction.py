"""A log of which half survives, compacted: MB/s of one core, of the bytes that are compacted.

Every key comes twice, in random order, so that nearly every batch loses some records and is built
anew; where whole batches stay or go it costs less. Driven as the cleaner thread drives it, without
its pauses, and without its syncs. The limit: the files read and checksummed once (compaction reads
them twice), half of the bytes written.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures
from benchmarks.rounds import Case
from benchmarks.storage import raw
from benchmarks.storage.batches import (
    BATCH_BYTES,
    KIB,
    MB,
    SMALL_RECORD_BYTES,
    Shape,
    stored,
    timestamp_of,
)
from benchmarks.storage.sides import Side, contest, cpu_seconds
from benchmarks.storage.stored_log import fill, log_files
from benchmarks.storage.unsynced_disk import UnsyncedDisk
from logquake.storage.cleaner.cleaning import Cleaning, Finished, Replacement
from logquake.storage.cleaner.plan import CleanerBounds
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.wire.records import Record, encode_batch

_SEGMENTS = 4
_SHAPES = (Shape(KIB), Shape(SMALL_RECORD_BYTES))
_KEY_BYTES = 8


def compaction_cases(folder: Path, size: int) -> Iterator[Case[Side]]:
    """size: of the log, in bytes, about; its keys count in addition."""
    config = LogConfig(segment_bytes=max(size // _SEGMENTS, 2 * BATCH_BYTES), compacted=True)
    for shape in _SHAPES:
        with tempfile.TemporaryDirectory(dir=folder) as made:
            template = Path(made) / "template"
            fill(template, config, _batches(shape, size // BATCH_BYTES, config))
            yield _case(shape, template, config)


def _case(shape: Shape, template: Path, config: LogConfig) -> Case[Side]:
    return contest(
        f"compaction, {shape.name}", lambda: _ours(template, config), lambda: _limit(template)
    )


def _batches(shape: Shape, count: int, config: LogConfig) -> Iterator[bytes]:
    """The last one is so late that it begins a segment: everything before it can be compacted."""
    count -= count % 2
    records = count * shape.records
    numbers = list(range(records // 2)) * 2
    Random(shape.value_bytes).shuffle(numbers)
    yield from stored(shape, count, keys=[n.to_bytes(_KEY_BYTES, "big") for n in numbers])
    late_ms = timestamp_of(count) + config.segment_ms
    last = Record(records, late_ms, b"last", b"")
    yield bytes(encode_batch([last], base_offset=records, leader_epoch=0))


def _ours(template: Path, config: LogConfig) -> Figures:
    place = template.with_name("compacted")
    shutil.copytree(template, place)
    log = Log.open(UnsyncedDisk(), str(place), config)
    cleaning = log.cleaning.begin(log.cleaning.assess(log.end_offset, 0), CleanerBounds(), now_ms=0)
    seconds = cpu_seconds(lambda: _compact(log, cleaning))
    log.close(clean=False)
    shutil.rmtree(place)
    stats = cleaning.stats
    if stats.records_written * 2 != stats.records_read:
        raise BenchmarkError(f"compaction kept {stats.records_written} of {stats.records_read}")
    return {"MB/s": stats.bytes_read / MB / seconds}


def _compact(log: Log, cleaning: Cleaning) -> None:
    while not isinstance(step := cleaning.work(), Finished):
        if isinstance(step, Replacement):
            log.cleaning.swap(cleaning, step)


def _limit(template: Path) -> Figures:
    sources = log_files(template)[:-1]
    target = template.with_name("half")
    seconds = cpu_seconds(lambda: _write_half(sources, target))
    target.unlink()
    return {"MB/s": sum(path.stat().st_size for path in sources) / MB / seconds}


def _write_half(sources: list[Path], target: Path) -> None:
    with raw.descriptor(target, os.O_RDWR | os.O_CREAT) as file:
        for source in sources:
            for chunk in raw.read_checked(source):
                os.write(file, memoryview(chunk)[: len(chunk) // 2])
