"""One segment: its batches one by one, its indexes beside them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from logquake.storage import file_names as names
from logquake.storage.disk.seam import Disk, File
from logquake.storage.segments.batch_walk import SCAN_CHUNK_BYTES, DamagedBatchError, walk_headers
from logquake.storage.verify.batch_check import DamagedContentError, check_batch
from logquake.storage.verify.expectations import Expectations, Limits
from logquake.storage.verify.findings import Findings
from logquake.storage.verify.index_checks import OffsetIndexCheck, TimeIndexCheck
from logquake.storage.verify.order_check import OrderCheck
from logquake.storage.verify.producer_check import ProducerCheck
from logquake.storage.verify.progress import Progress
from logquake.storage.verify.report import PartitionReport
from logquake.wire.errors import RecordError
from logquake.wire.records import BatchHeader


class UnstableError(Exception):
    """What follows still changes: a broker runs."""


@dataclass(frozen=True, slots=True)
class Walk:
    """What goes along from segment to segment."""

    disk: Disk
    report: PartitionReport
    expected: Expectations
    limits: Limits
    findings: Findings
    progress: Progress
    order: OrderCheck
    producers: ProducerCheck


class SegmentCheck:
    def __init__(self, walk: Walk, base_offset: int, *, is_last: bool) -> None:
        self._walk = walk
        self._base_offset = base_offset
        self._is_last = is_last
        self._path = self._beside(names.LOG_SUFFIX)
        self._doubts = Findings()  # of the indexes: damage, unless they are going to be rebuilt

    def run(self) -> bool:
        """Whether the next one is to follow. Raises OSError."""
        walk = self._walk
        walk.progress.begin(self._path)
        walk.order.begin_segment(self._path, self._base_offset)
        file = walk.disk.open(self._path)
        size = file.size()
        indexes = list(self._indexes())
        walk.report.segments += 1
        try:
            for position, header in walk_headers(file, 0, size, SCAN_CHUNK_BYTES):
                first_offset = self._batch(file, position, header)
                for index in indexes:
                    index.batch(position, first_offset, header)
        except DamagedBatchError as damage:
            self._torn(damage, size)
            return True
        except UnstableError:
            return False
        self._end(indexes)
        return True

    def _indexes(self) -> Iterator[OffsetIndexCheck | TimeIndexCheck]:
        is_filled = self._is_last and self._walk.expected.may_have_active_segment
        for suffix, check in (
            (names.OFFSET_INDEX_SUFFIX, OffsetIndexCheck),
            (names.TIME_INDEX_SUFFIX, TimeIndexCheck),
        ):
            path = self._beside(suffix)
            try:
                file = self._walk.disk.open(path)
            except FileNotFoundError:
                self._doubts.damage("index", path, "is missing")
                continue
            yield check(path, file, self._base_offset, self._doubts, is_filled=is_filled)

    def _batch(self, file: File, position: int, header: BatchHeader) -> int:
        """The first offset of the batch. Raises UnstableError."""
        walk = self._walk
        stable_below = walk.expected.stable_below
        if stable_below is not None and header.last_offset >= stable_below:
            raise UnstableError
        walk.report.batches += 1
        walk.report.bytes += header.size
        walk.progress.read(header.size)
        first_offset = header.base_offset
        try:
            first_offset = self._content(file, position, header)
        except DamagedContentError as error:
            self._damaged(position, header, error)
        else:
            walk.order.batch(self._path, header, first_offset)
        return first_offset

    def _content(self, file: File, position: int, header: BatchHeader) -> int:
        walk = self._walk
        if header.size > walk.limits.max_batch_bytes:
            walk.findings.note(
                "large", self._path, f"batch of {header.size} bytes at byte {position} is not read"
            )
            walk.producers.lose_track()
            return header.base_offset
        batch = memoryview(file.pread(header.size, position))
        content = check_batch(
            batch,
            header,
            gaps_allowed=walk.expected.compacted,
            limit_bytes=walk.limits.max_decompressed_bytes,
        )
        walk.report.records += content.records
        try:
            walk.producers.batch(batch, header)
        except RecordError as error:
            raise DamagedContentError("records", error.detail) from error
        return content.first_offset

    def _damaged(self, position: int, header: BatchHeader, error: DamagedContentError) -> None:
        walk = self._walk
        message = f"batch at byte {position}, offset {header.base_offset}: {error}"
        if walk.expected.may_end_at(header.base_offset):
            walk.findings.note(error.kind, self._path, f"{message}; the next start cuts it off")
        else:
            walk.findings.damage(error.kind, self._path, message)
        walk.order.skip(header)
        walk.producers.lose_track()

    def _torn(self, damage: DamagedBatchError, size: int) -> None:
        """Nothing after it can be told apart."""
        walk = self._walk
        message = f"{size - damage.position} bytes are no batches, {damage}"
        if walk.expected.may_end_at(walk.order.next_offset or 0):
            walk.findings.note("torn", self._path, f"{message}; the next start cuts them off")
        else:
            walk.findings.damage("torn", self._path, message)
        walk.producers.lose_track()

    def _end(self, indexes: list[OffsetIndexCheck | TimeIndexCheck]) -> None:
        walk = self._walk
        next_offset = walk.order.next_offset or 0
        for index in indexes:
            index.end(next_offset)
        is_rebuilt = walk.expected.is_rebuilt(next_offset)
        walk.findings.take_over(self._doubts, as_notes=is_rebuilt)
        with suppress(FileNotFoundError):
            walk.producers.end_segment(self._base_offset, is_rebuilt=is_rebuilt)

    def _beside(self, suffix: str) -> str:
        name = names.offset_file(self._base_offset, suffix)
        return names.join(self._walk.report.path, name)
