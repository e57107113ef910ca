"""What ``log verify`` says."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from logquake.cluster.cli.output import print_json

if TYPE_CHECKING:
    from logquake.storage.verify import Progress, Report
    from logquake.storage.verify.report import DirReport

_PROGRESS_INTERVAL_S = 0.5


class ProgressLine:
    """One line on a terminal, written over and over; nothing where nobody looks."""

    def __init__(self) -> None:
        self._next_s = time.monotonic() + _PROGRESS_INTERVAL_S
        self._width = 0

    def show(self, progress: Progress) -> None:
        now_s = time.monotonic()
        if now_s < self._next_s:
            return
        self._next_s = now_s + _PROGRESS_INTERVAL_S
        self._write(f"{size(progress.read_bytes)} of {size(progress.total_bytes)}, {progress.path}")

    def end(self) -> None:
        if self._width:
            self._write("")
            sys.stderr.write("\r")

    def _write(self, line: str) -> None:
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)


def print_report(report: Report) -> None:
    for directory in report.directories:
        print(f"{directory.path}: {_summary(directory)}")
    for finding in report.findings:
        print(f"{finding.severity.value} ({finding.kind}): {finding.path}: {finding.message}")
    if report.is_sound:
        print("sound" if not report.notes else f"sound; {_counted(report.notes, 'note')}")
    else:
        notes = f", {_counted(report.notes, 'note')}" if report.notes else ""
        print(f"not sound: {_counted(report.damages, 'damage')}{notes}")


def print_report_json(report: Report) -> None:
    print_json(_document(report))


def _document(report: Report) -> dict[str, Any]:
    return {
        "sound": report.is_sound,
        "damages": report.damages,
        "notes": report.notes,
        "directories": [
            {
                "path": directory.path,
                "state": directory.state.name.lower(),
                "partitions": [asdict(partition) for partition in directory.partitions],
            }
            for directory in report.directories
        ],
        "findings": [
            {**asdict(finding), "severity": finding.severity.value} for finding in report.findings
        ],
    }


def _summary(directory: DirReport) -> str:
    partitions = directory.partitions
    counts = (
        _counted(len(partitions), "partition"),
        _counted(sum(each.segments for each in partitions), "segment"),
        _counted(sum(each.records for each in partitions), "record"),
        size(sum(each.bytes for each in partitions)),
    )
    return f"{directory.state.value}; {', '.join(counts)}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def size(count: float) -> str:
    """Bytes as a few digits and a unit."""
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
