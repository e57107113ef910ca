"""One entry of log.dirs: how it was left, whose it is, its checkpoints and its folders."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from logquake.storage import checkpoint_files as checkpoints
from logquake.storage import file_names as names
from logquake.storage.checkpoint_files import DamagedCheckpointError
from logquake.storage.dirs import clean_shutdown
from logquake.storage.dirs.meta_properties import FILE_NAME as META_PROPERTIES
from logquake.storage.dirs.meta_properties import read_meta_properties
from logquake.storage.dirs.opening import LOCK_FILE
from logquake.storage.disk.read_only_disk import ReadOnlyDisk
from logquake.storage.errors import LogDirError
from logquake.storage.verify.expectations import Checkpoints, DirState, Expectations, Offsets
from logquake.storage.verify.findings import Findings
from logquake.storage.verify.folder_check import TEMPORARY_SUFFIX
from logquake.wire.topic_partition import TopicPartition

# Compacted whatever their settings were made to be.
INTERNAL_TOPICS = ("__consumer_offsets", "__transaction_state")
_FILES = (
    LOCK_FILE,
    META_PROPERTIES,
    clean_shutdown.FILE_NAME,
    checkpoints.RECOVERY_POINTS,
    checkpoints.HIGH_WATERMARKS,
    checkpoints.LOG_START_OFFSETS,
    checkpoints.CLEANER_OFFSETS,
)
_TIERED_STORAGE = "remote-log-index-cache"


class DirCheck:
    """``state`` is how the directory was found at first."""

    def __init__(
        self,
        disk: ReadOnlyDisk,
        path: str,
        findings: Findings,
        compacted_topics: Collection[str] = (),
    ) -> None:
        self.path = path
        self.state = _state(disk, path)
        self._disk = disk
        self._findings = findings
        self._compacted_topics = compacted_topics
        self._checkpoints = Checkpoints(
            self._offsets(checkpoints.RECOVERY_POINTS),
            self._offsets(checkpoints.HIGH_WATERMARKS),
            self._offsets(checkpoints.LOG_START_OFFSETS),
            self._offsets(checkpoints.CLEANER_OFFSETS),
        )

    def check_files(self) -> None:
        """Everything but the partitions themselves. Raises OSError."""
        self._check_owner()
        for name in self._disk.list(self.path):
            path = names.join(self.path, name)
            if self._is_folder(path):
                self._check_folder(name, path)
            elif name.endswith(TEMPORARY_SUFFIX):
                self._findings.note("leftover", path, "was left by a crash while it was written")
            elif name not in _FILES:
                self._findings.note("unknown-file", path, "brokers leave it alone")
        self._check_strangers()

    def partitions(self) -> Iterator[tuple[TopicPartition, str]]:
        """Topic partitions and the names of their folders; one may be there twice."""
        for name in self._disk.list(self.path):
            key = names.parse_partition_dir(name)
            if key is not None and self._is_folder(names.join(self.path, name)):
                yield key, name

    def expectations(self, key: TopicPartition) -> Expectations:
        known = self._checkpoints
        cleaned_topics = {topic for topic, _ in known.cleaned_to}
        return Expectations(
            self.state,
            known.recovery_points.get(key),
            known.high_watermarks.get(key),
            known.start_offsets.get(key, 0),
            known.cleaned_to.get(key),
            compacted=key[0] in cleaned_topics
            or key[0] in INTERNAL_TOPICS
            or key[0] in self._compacted_topics,
        )

    def _offsets(self, name: str) -> Offsets:
        path = names.join(self.path, name)
        try:
            return checkpoints.read_offsets(self._disk, path)
        except DamagedCheckpointError as error:
            self._findings.damage("checkpoint", path, str(error))
            return {}

    def _check_owner(self) -> None:
        path = names.join(self.path, META_PROPERTIES)
        try:
            owner = read_meta_properties(self._disk, self.path)
        except LogDirError as error:
            self._findings.damage("owner", path, str(error).removeprefix(f"{path} "))
            return
        if owner is None:
            self._findings.damage("owner", path, "is missing: whose directory it is, nobody knows")
        elif owner.broker_id is None or owner.cluster_id is None:
            self._findings.damage("owner", path, "lacks broker.id or cluster.id")

    def _check_folder(self, name: str, path: str) -> None:
        if name == _TIERED_STORAGE or names.parse_partition_dir(name) is not None:
            return
        if names.is_deleted_dir(name):
            self._findings.note("leftover", path, "waits to be removed")
        elif names.parse_future_dir(name) is not None:
            self._findings.note("leftover", path, "is a copy on its way from another directory")
        elif name.endswith("-stray"):
            self._findings.note("leftover", path, "was put aside by a broker")
        else:
            self._findings.damage(
                "unknown-folder", path, "is no partition's; Apache Kafka refuses to start with it"
            )

    def _check_strangers(self) -> None:
        here = {key for key, _ in self.partitions()}
        known = self._checkpoints
        for name, offsets in (
            (checkpoints.RECOVERY_POINTS, known.recovery_points),
            (checkpoints.HIGH_WATERMARKS, known.high_watermarks),
            (checkpoints.LOG_START_OFFSETS, known.start_offsets),
            (checkpoints.CLEANER_OFFSETS, known.cleaned_to),
        ):
            for topic, partition in sorted(set(offsets).difference(here)):
                path = names.join(self.path, name)
                self._findings.note("stranger", path, f"lists {topic}-{partition}: no such folder")

    def _is_folder(self, path: str) -> bool:
        try:
            self._disk.list(path)
        except NotADirectoryError:
            return False
        return True


def _state(disk: ReadOnlyDisk, path: str) -> DirState:
    if disk.is_locked(names.join(path, LOCK_FILE)):
        return DirState.LIVE
    if disk.exists(names.join(path, clean_shutdown.FILE_NAME)):
        return DirState.CLEAN
    return DirState.UNCLEAN
