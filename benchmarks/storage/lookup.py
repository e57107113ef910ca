"""Where an offset, or a time, lies in a log of many segments: CPU a call.

Cold: the segment was not touched since the log was opened, so its indexes are read first. How much
that costs depends on their size, see ``index_load``; here the segments are small. Warm: they are in
memory. Log.read answers with a place to send from; no record is read. Kafka defines the look-up of
a time as the first segment, in order, that could hold it, so a cold one looks at all before it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures
from benchmarks.rounds import Case
from benchmarks.storage.batches import KIB, Shape, stored, timestamp_of
from benchmarks.storage.raw_lookup import RawLog
from benchmarks.storage.sides import Side, contest, cpu_seconds
from benchmarks.storage.stored_log import fill, log_files
from logquake.node.process.descriptors import open_segments, raise_limit
from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.log.log import Log
from logquake.storage.log.opening import OpeningTerms
from logquake.storage.log_config import LogConfig
from logquake.storage.segments.open_files import DEFAULT_LIMIT, OpenFiles

BATCHES_A_SEGMENT = 16

_SHAPE = Shape(batch_bytes=4 * KIB)
_READ_BYTES = 1 << 20
_COLD_CALLS = 300
_WARM_CALLS = 3_000
_WARM_TIME_CALLS = 300


def lookup_cases(folder: Path, segments: int) -> Iterator[Case[Side]]:
    with tempfile.TemporaryDirectory(dir=folder) as made:
        contents = _Contents(Path(made), segments)
        contents.write()
        for what, ours, limit in (
            ("offset, cold", _cold_offsets, _raw_cold_offsets),
            ("offset, warm", _warm_offsets, _raw_warm_offsets),
            ("time, cold", _cold_time, _raw_cold_time),
            ("time, warm", _warm_times, _raw_warm_times),
        ):
            yield _case(f"look-up, {segments} segments, {what}", contents, ours, limit)


class _Contents:
    """A log in a folder, and which of its offsets and times are asked for: always the same."""

    def __init__(self, place: Path, segments: int) -> None:
        self.place = place
        self.segments = segments
        self._batches = segments * BATCHES_A_SEGMENT
        self._sealed_batches = self._batches - BATCHES_A_SEGMENT
        self._random = Random(segments)

    def write(self) -> None:
        batches = list(stored(_SHAPE, BATCHES_A_SEGMENT))
        config = LogConfig(segment_bytes=sum(map(len, batches)))
        fill(self.place, config, stored(_SHAPE, self._batches))
        if len(log_files(self.place)) != self.segments:
            raise BenchmarkError(f"{len(log_files(self.place))} segments")

    def open(self) -> Log:
        """As after an orderly stop, but for the last segment's index, which is read anew."""
        open_files = OpenFiles(open_segments(DEFAULT_LIMIT, raise_limit()))
        terms = OpeningTerms(open_files)
        log = Log.open(RealDisk(), str(self.place), LogConfig(), terms=terms)
        if log.end_offset != self._batches * _SHAPE.records:
            raise BenchmarkError(f"a log that ends at {log.end_offset}")
        return log

    def offsets_of_different_segments(self) -> list[int]:
        """Not of the last one, which is in use from the start."""
        sealed = range(self.segments - 1)
        a_segment = BATCHES_A_SEGMENT * _SHAPE.records
        return [
            number * a_segment + self._random.randrange(a_segment)
            for number in self._random.sample(sealed, min(len(sealed), _COLD_CALLS))
        ]

    def offsets(self) -> list[int]:
        end = self._batches * _SHAPE.records
        return [self._random.randrange(end) for _ in range(_WARM_CALLS)]

    def late_time(self) -> int:
        """Of the last segment but one."""
        return timestamp_of(self._sealed_batches - 1)

    def times(self) -> list[int]:
        stamps = range(self._sealed_batches)
        return [timestamp_of(self._random.choice(stamps)) for _ in range(_WARM_TIME_CALLS)]


Work = Callable[[_Contents], Figures]


def _case(name: str, contents: _Contents, ours: Work, limit: Work) -> Case[Side]:
    return contest(name, lambda: ours(contents), lambda: limit(contents))


def _cold_offsets(contents: _Contents) -> Figures:
    log = contents.open()
    return _timed(lambda offset: _read(log, offset), contents.offsets_of_different_segments())


def _warm_offsets(contents: _Contents) -> Figures:
    log, offsets = contents.open(), contents.offsets()
    for offset in offsets:
        _read(log, offset)
    return _timed(lambda offset: _read(log, offset), offsets)


def _cold_time(contents: _Contents) -> Figures:
    log = contents.open()
    return _timed(lambda time_ms: _find_time(log, time_ms), [contents.late_time()])


def _warm_times(contents: _Contents) -> Figures:
    log = contents.open()
    _find_time(log, contents.late_time())
    return _timed(lambda time_ms: _find_time(log, time_ms), contents.times())


def _read(log: Log, offset: int) -> None:
    if not log.read(offset, _READ_BYTES, up_to=log.end_offset).size:
        raise BenchmarkError(f"nothing at offset {offset}")


def _find_time(log: Log, time_ms: int) -> None:
    if log.offset_for_time(time_ms) is None:
        raise BenchmarkError(f"no record at or after {time_ms}")


def _raw_cold_offsets(contents: _Contents) -> Figures:
    raw_log = RawLog(contents.place)
    return _timed(raw_log.find, contents.offsets_of_different_segments())


def _raw_warm_offsets(contents: _Contents) -> Figures:
    raw_log, offsets = RawLog(contents.place), contents.offsets()
    for offset in offsets:
        raw_log.find(offset)
    return _timed(raw_log.find, offsets)


def _raw_cold_time(contents: _Contents) -> Figures:
    return _timed(RawLog(contents.place).find_time, [contents.late_time()])


def _raw_warm_times(contents: _Contents) -> Figures:
    raw_log, times = RawLog(contents.place), contents.times()
    for time_ms in times:
        raw_log.find_time(time_ms)
    return _timed(raw_log.find_time, times)


def _timed(call: Callable[[int], object], arguments: list[int]) -> Figures:
    def work() -> None:
        for argument in arguments:
            call(argument)

    return {"us/call": cpu_seconds(work) / len(arguments) * 1e6}
