"""One partition: its folder, its segments in order, and what the checkpoints promise of it."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.storage import file_names as names
from logquake.storage.disk.seam import Disk
from logquake.storage.verify.expectations import DirState, Expectations, Limits
from logquake.storage.verify.findings import Findings
from logquake.storage.verify.folder_check import check_files, check_metadata, read_epochs
from logquake.storage.verify.order_check import OrderCheck
from logquake.storage.verify.producer_check import ProducerCheck
from logquake.storage.verify.progress import Progress
from logquake.storage.verify.report import PartitionReport
from logquake.storage.verify.segment_check import SegmentCheck, Walk
from logquake.storage.verify.swap_check import check_swaps


@dataclass(frozen=True, slots=True)
class PartitionCheck:
    disk: Disk
    findings: Findings
    progress: Progress
    limits: Limits

    def run(self, report: PartitionReport, expected: Expectations) -> None:
        """Fill the report in. Raises OSError."""
        found = self.disk.list(report.path)
        check_files(report.path, found, self.findings)
        check_swaps(self.disk, report.path, found, self.findings)
        check_metadata(self.disk, report.path, self.findings)
        base_offsets = names.offsets_with(found, names.LOG_SUFFIX)
        if not base_offsets:
            self.findings.note("empty", report.path, "has no segment")
            report.start_offset = report.end_offset = expected.start_offset
            return
        report.start_offset = max(expected.start_offset, base_offsets[0])
        walk = self._walk(report, expected, base_offsets[0])
        is_stable = all(
            SegmentCheck(walk, base_offset, is_last=base_offset == base_offsets[-1]).run()
            for base_offset in base_offsets
        )
        report.end_offset = walk.order.next_offset or 0
        if is_stable:
            walk.producers.end(report.end_offset)
            self._check_promises(report, expected)

    def _walk(self, report: PartitionReport, expected: Expectations, first_offset: int) -> Walk:
        epochs = read_epochs(self.disk, report.path, self.findings)
        order = OrderCheck(
            epochs,
            self.findings,
            start_offset=report.start_offset if expected.state is DirState.CLEAN else None,
            gaps_allowed=expected.compacted,
        )
        producers = ProducerCheck(
            self.disk,
            report.path,
            self.findings,
            judges=not expected.compacted,
            start_offset=first_offset,
        )
        return Walk(
            self.disk,
            report,
            expected,
            self.limits,
            self.findings,
            self.progress,
            order,
            producers,
        )

    def _check_promises(self, report: PartitionReport, expected: Expectations) -> None:
        end_offset = report.end_offset
        for what, promised in (
            ("recovery point", expected.recovery_point),
            ("high watermark", expected.high_watermark),
            ("start", expected.start_offset),
            ("cleaner's offset", expected.cleaned_to),
        ):
            if promised is not None and promised > end_offset:
                self.findings.damage(
                    "checkpoint",
                    report.path,
                    f"ends at offset {end_offset}, its checkpointed {what} is {promised}",
                )
