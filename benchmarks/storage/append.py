"""A batch of 16 KiB on its way from the receive buffer into the log: CPU a batch.

As the broker does it for Produce: the header is read, then the log checks CRC, producer, sequence
and every record, assigns offsets in place, writes and indexes. Each batch is committed alone, as
when a pass of the event loop finds one batch a partition; several would share a write.

The limit: the same bytes into the receive buffer, one CRC, one decompression, one pwritev.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.figures import Figures
from benchmarks.rounds import Case
from benchmarks.storage import raw
from benchmarks.storage.batches import BATCH_BYTES, KIB, SMALL_RECORD_BYTES, Shape, produced
from benchmarks.storage.sides import Side, contest, cpu_seconds
from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.wire.compression import Codec
from logquake.wire.records import read_produced

SHAPES = tuple(Shape(size, codec) for size in (KIB, SMALL_RECORD_BYTES) for codec in Codec)

_PRODUCE_VERSION = 11
_NOW_MS = 1_700_000_000_000
_BUFFER_BYTES = 2 * BATCH_BYTES


def append_cases(folder: Path, batches: int) -> Iterator[Case[Side]]:
    for shape in SHAPES:
        yield _case(folder, shape, produced(shape, batches))


def _case(folder: Path, shape: Shape, batches: Sequence[bytes]) -> Case[Side]:
    return contest(
        f"append, {shape.name}",
        lambda: _ours(folder, batches),
        lambda: _limit(folder, batches, shape.codec),
    )


def _ours(folder: Path, batches: Sequence[bytes]) -> Figures:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        log = Log.open(RealDisk(), place, LogConfig())
        seconds = cpu_seconds(lambda: _append(log, batches))
        log.close(clean=False)
    return _figures(seconds, batches)


def _append(log: Log, batches: Sequence[bytes]) -> None:
    received = memoryview(bytearray(_BUFFER_BYTES))
    for batch in batches:
        records = received[: len(batch)]
        records[:] = batch
        header = read_produced(records, _PRODUCE_VERSION)
        log.stage_as_leader(records, 0, _NOW_MS, header=header)
        log.commit()


def _limit(folder: Path, batches: Sequence[bytes], codec: Codec) -> Figures:
    with (
        tempfile.TemporaryDirectory(dir=folder) as place,
        raw.descriptor(Path(place) / "log", os.O_RDWR | os.O_CREAT) as file,
    ):
        seconds = cpu_seconds(lambda: _write(file, batches, codec))
    return _figures(seconds, batches)


def _write(file: int, batches: Sequence[bytes], codec: Codec) -> None:
    received = memoryview(bytearray(_BUFFER_BYTES))
    expand = raw.expander(codec)
    position = 0
    for batch in batches:
        records = received[: len(batch)]
        records[:] = batch
        raw.check(records)
        expand(records)
        position += os.pwritev(file, [records], position)


def _figures(seconds: float, batches: Sequence[bytes]) -> Figures:
    return {"us/batch": seconds / len(batches) * 1e6}
