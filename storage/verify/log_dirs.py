"""The door: several directories, as log.dirs may name several, or one partition's folder."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from logquake.storage import file_names as names
from logquake.storage.disk.read_only_disk import ReadOnlyDisk
from logquake.storage.verify.dir_check import DirCheck
from logquake.storage.verify.expectations import DirState, Limits
from logquake.storage.verify.findings import Findings, Severity
from logquake.storage.verify.partition_check import PartitionCheck
from logquake.storage.verify.progress import Progress
from logquake.storage.verify.report import DirReport, PartitionReport, Report
from logquake.wire.topic_partition import TopicPartition

_WHILE_LIVE = "a broker uses it: read below the checkpointed high watermarks"


class Verification:
    def __init__(
        self,
        disk: ReadOnlyDisk,
        *,
        compacted_topics: Collection[str] = (),
        limits: Limits | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._disk = disk
        self._compacted_topics = compacted_topics
        self._findings = Findings()
        self._progress = progress or Progress()
        self._partitions = PartitionCheck(disk, self._findings, self._progress, limits or Limits())
        self._places: dict[TopicPartition, str] = {}

    def run(self, paths: Sequence[str]) -> Report:
        """Raises OSError."""
        work = [(self._enter(path), self._chosen(path)) for path in paths]
        self._progress.total_bytes = sum(
            self._log_bytes(names.join(directory.path, name))
            for directory, chosen in work
            for _, name in directory.partitions()
            if chosen in (None, name)
        )
        reports = [self._directory(directory, chosen) for directory, chosen in work]
        return Report(
            reports,
            self._findings.all(),
            self._findings.count(Severity.DAMAGE),
            self._findings.count(Severity.NOTE),
        )

    def _enter(self, path: str) -> DirCheck:
        path = path.rstrip("/") or "/"
        root = path if self._chosen(path) is None else names.parent(path)
        return DirCheck(self._disk, root, self._findings, self._compacted_topics)

    def _chosen(self, path: str) -> str | None:
        """The name of the partition's folder that path is; None for a whole directory."""
        name = path.rstrip("/").rpartition("/")[2]
        if names.parse_partition_dir(name) is None:
            return None
        inside = self._disk.list(path)
        return name if names.offsets_with(inside, names.LOG_SUFFIX) else None

    def _directory(self, directory: DirCheck, chosen: str | None) -> DirReport:
        report = DirReport(directory.path, directory.state)
        if directory.state is DirState.LIVE:
            self._findings.note("live", directory.path, _WHILE_LIVE)
        if chosen is None:
            directory.check_files()
        for key, name in directory.partitions():
            if chosen in (None, name):
                partition = PartitionReport(*key, names.join(directory.path, name))
                self._check_place(key, partition.path)
                self._partition(directory, partition, key)
                report.partitions.append(partition)
        return report

    def _partition(self, directory: DirCheck, report: PartitionReport, key: TopicPartition) -> None:
        try:
            self._partitions.run(report, directory.expectations(key))
        except FileNotFoundError as error:
            if directory.state is not DirState.LIVE:
                raise
            self._findings.note("gone", report.path, f"{error.filename} went while it was read")

    def _check_place(self, key: TopicPartition, path: str) -> None:
        other = self._places.setdefault(key, path)
        if other != path:
            self._findings.damage("duplicate", path, f"is the same partition as {other}")

    def _log_bytes(self, path: str) -> int:
        logs = (name for name in self._disk.list(path) if name.endswith(names.LOG_SUFFIX))
        return sum(self._disk.open(names.join(path, name)).size() for name in logs)
