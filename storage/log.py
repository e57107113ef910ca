"""One partition's log: append in two steps, read, truncate, sync (Kafka's UnifiedLog, LocalLog).

Appends are staged first and written together: stage_as_leader and stage_as_follower check and
remember views of the sender's bytes, commit() writes them with one pwritev a segment. Until then
nothing of them can be read, and when commit() fails nothing of them counts.

Single-threaded, except PendingSync.run(). Absent: retention, compaction, the index of aborted
transactions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from errno import EIO

from logquake.storage.appended import Appended
from logquake.storage.disk import Disk
from logquake.storage.errors import OffsetOutOfRange, StorageError, disk_faults
from logquake.storage.leader_epochs import LeaderEpochs
from logquake.storage.log_appender import LogAppender
from logquake.storage.log_config import LogConfig
from logquake.storage.log_files import LogFiles
from logquake.storage.log_reader import LogReader
from logquake.storage.log_recovery import RecoveryReport
from logquake.storage.log_slice import EMPTY_SLICE, LogSlice
from logquake.storage.log_sync import PendingSync, SyncState
from logquake.storage.partition_metadata import read_topic_id, write_topic_id
from logquake.storage.producer_state import ProducerStates
from logquake.wire.records import BatchHeader


class Log:
    """Offsets: [start_offset, written_end_offset) can be read, end_offset counts what is staged.

    topic_id is None for a folder without partition.metadata. recovery tells what open() repaired.
    recovery_point is the offset below which everything is synced. on_recovery_point_lowered is
    called when that fell: a checkpoint above it would make recovery trust rewritten bytes.
    on_rolled is called when a commit() began a segment: those before it can be synced.
    """

    def __init__(self, disk: Disk, directory: str, config: LogConfig) -> None:
        """Use Log.open."""
        self.directory = directory
        self.config = config
        self.topic_id: bytes | None = None
        self.recovery = RecoveryReport()
        self.start_offset = 0
        self.written_end_offset = 0
        self.on_recovery_point_lowered: Callable[[], None] = _do_nothing
        self.on_rolled: Callable[[], None] = _do_nothing
        self.is_closed = False
        self.producers = ProducerStates()
        self._disk = disk
        self._files = LogFiles(disk, directory, config)
        self._syncs = SyncState(disk, self._files)
        self._reader = LogReader(self._files.segments, directory)
        self._appender = LogAppender(config, self.producers, self._files.epochs)
        self._write_failed = False

    @classmethod
    def open(
        cls,
        disk: Disk,
        directory: str,
        config: LogConfig,
        *,
        clean: bool,
        recovery_point: int = 0,
        log_start_offset: int = 0,
    ) -> Log:
        """Open the log in directory, created when missing.

        Unless clean, every batch from the recovery point's segment on is checked, and the log
        ends before the first that is not intact. Raises StorageError.
        """
        log = cls(disk, directory, config)
        with disk_faults(directory):
            loaded = log._files.load(
                clean=clean,
                recovery_point=recovery_point,
                start_offset=log_start_offset,
                gaps_allowed=config.compacted,
            )
            log.start_offset, log.recovery = loaded.start_offset, loaded.report
            log._syncs.recovery_point = (
                loaded.end_offset if clean else min(recovery_point, loaded.end_offset)
            )
            log._files.load_producers(log.producers, loaded.start_offset, loaded.end_offset)
            log.topic_id = read_topic_id(disk, directory)
        log._end_at(loaded.end_offset)
        return log

    @property
    def end_offset(self) -> int:
        return self._appender.end_offset

    @property
    def recovery_point(self) -> int:
        return self._syncs.recovery_point

    @property
    def epochs(self) -> LeaderEpochs:
        """Changes made here directly are written by the next commit()."""
        return self._files.epochs

    @property
    def size(self) -> int:
        """Bytes of all batches."""
        return self._files.segments.size

    def assign_topic_id(self, topic_id: bytes) -> None:
        """Record the topic id in partition.metadata, durably."""
        with disk_faults(self.directory):
            write_topic_id(self._disk, self.directory, topic_id)
        self.topic_id = topic_id

    def reconfigure(self, config: LogConfig) -> None:
        """Use other settings from the next append, and the next segment, on."""
        self.config = config
        self._files.segments.config = config
        self._appender.configure(config)

    # Appending

    def stage_as_leader(
        self, records: memoryview, leader_epoch: int, now_ms: int, *, internal: bool = False
    ) -> Appended:
        """Check one batch, give it offsets and the epoch in place, and remember it for commit().

        records is writable and stays untouched until commit(). internal: a batch that the broker
        made itself, which may be a control batch and has no sequence. A batch that repeats one of
        its producer's last five answers that one's offsets, duplicate set. Raises RecordError.
        """
        return self._appender.stage_as_leader(records, leader_epoch, now_ms, internal=internal)

    def stage_as_follower(self, records: memoryview) -> Appended:
        """Remember a leader's batches, offsets and epochs kept; an incomplete last one is left out.

        Raises RecordError when one is damaged or does not continue this log; those before it in
        records are then not staged either.
        """
        return self._appender.stage_as_follower(records)

    def commit(self) -> None:
        """Write all that is staged. Raises StorageError, and then nothing of it counts."""
        active = self._files.segments.active
        try:
            self._write_staged()
        except OSError as error:
            self._write_failed = True
            with suppress(OSError):
                self._drop_failed_write()
            self._appender.roll_back(self.written_end_offset, self._files.segments.active)
            raise StorageError(self.directory, f"appending: {error}") from error
        if self.written_end_offset - self.recovery_point >= self.config.flush_messages:
            self.sync()
        if self._files.segments.active is not active:
            self.on_rolled()

    def _write_staged(self) -> None:
        if self._write_failed:
            raise OSError(EIO, "an earlier write failed and could not be undone yet")
        self._files.save_epochs()
        appender = self._appender
        if appender.runs:
            self._files.write(appender.runs)
            self.written_end_offset = appender.end_offset
            appender.keep(self._files.segments.active)

    def _drop_failed_write(self) -> None:
        if self._write_failed:
            self._files.truncate_to(self.written_end_offset)
            self._write_failed = False

    def expire_producers(self, now_ms: int) -> None:
        """Forget who wrote nothing for producer.id.expiration.ms; now_ms is wall time."""
        self.producers.expire(now_ms, self.config.producer_expiration_ms)

    # Reading

    def read(
        self, offset: int, max_bytes: int, *, up_to: int, min_one_batch: bool = True
    ) -> LogSlice:
        """Up to max_bytes from the batch that holds offset, of batches wholly below up_to.

        Empty when there is none, or when the first exceeds max_bytes without min_one_batch.
        Raises OffsetOutOfRange, StorageError.
        """
        end_offset = self.written_end_offset
        if self._write_failed:
            raise StorageError(self.directory, "a write failed and could not be undone")
        if not self.start_offset <= offset <= self.end_offset:
            raise OffsetOutOfRange(offset, self.start_offset, end_offset)
        limit = min(up_to, end_offset)
        if offset >= limit:
            return EMPTY_SLICE
        return self._reader.read(
            offset, max_bytes, limit=limit, end_offset=end_offset, min_one_batch=min_one_batch
        )

    def headers(self, from_offset: int) -> Iterator[BatchHeader]:
        """Headers of the written batches from the one that holds from_offset on."""
        with disk_faults(self.directory):
            yield from self._reader.headers(from_offset)

    def offset_for_time(self, timestamp_ms: int) -> tuple[int, int] | None:
        """(timestamp, offset) of the first record at or after timestamp_ms, None without one."""
        with disk_faults(self.directory):
            return self._reader.first_record_at(timestamp_ms, self.start_offset)

    def offset_of_max_timestamp(self) -> tuple[int, int] | None:
        """(timestamp, offset) of the first record with the largest timestamp."""
        with disk_faults(self.directory):
            return self._reader.record_with_max_timestamp()

    # Cutting, syncing, closing

    def truncate_to(self, offset: int) -> int:
        """Drop the batch that holds offset and all after it; the new end offset.

        Leader epochs that begin at the end or later go too, so that a leader's epoch in which
        nothing was written does not stand in the next one's way.
        """
        self._require_nothing_staged()
        if offset >= self.written_end_offset:
            return self._truncate_epochs()
        if offset < self._files.segments.first.base_offset:
            self.truncate_fully_and_start_at(offset)
            return offset
        with disk_faults(self.directory):
            self._lower_recovery_point(offset)
            end_offset = self._files.truncate_to(offset)
            self.start_offset = min(self.start_offset, end_offset)
            self._files.load_producers(self.producers, self.start_offset, end_offset)
        self._write_failed = False
        self._end_at(end_offset)
        return end_offset

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Drop everything; the next append is at offset."""
        self._require_nothing_staged()
        with disk_faults(self.directory):
            # 0: what an interrupted restart leaves must be checked from the beginning.
            self._lower_recovery_point(0)
            self._files.restart_at(offset)
        self.producers.load((), offset)
        self.start_offset = self._syncs.recovery_point = offset
        self._write_failed = False
        self._end_at(offset)

    @property
    def unsynced_roll(self) -> bool:
        """Segments that are written to no more are not synced yet."""
        return self._files.segments.active.base_offset > self.recovery_point

    def begin_sync(self, *, rolled_only: bool = False) -> PendingSync:
        """Collect what finish_sync() may call synced once run() returned. Raises StorageError.

        rolled_only leaves the active segment out.
        """
        with disk_faults(self.directory):
            return self._syncs.begin(self.written_end_offset, rolled_only=rolled_only)

    def finish_sync(self, pending: PendingSync) -> None:
        """Move the recovery point, unless a truncation came between: the bytes may be others."""
        self._syncs.finish(pending)

    def fail_sync(self, pending: PendingSync) -> None:
        """run() failed: neither it nor a later sync may claim what it was to make safe."""
        self._syncs.fail()
        with suppress(StorageError):  # the disk that fails is the one that would be written
            self._lower_recovery_point(pending.start_offset)

    def sync(self) -> None:
        """Make everything written survive a loss of power. Raises StorageError."""
        pending = self.begin_sync()
        try:
            with disk_faults(self.directory):
                pending.run()
        except StorageError:
            self.fail_sync(pending)
            raise
        self.finish_sync(pending)

    def close(self, clean: bool) -> None:
        """Let go of the files; clean: leave them so that the next start need not scan them.

        Raises StorageError, the files released all the same.
        """
        self.is_closed = True
        try:
            if clean:
                self._require_nothing_staged()
                self.sync()
                with disk_faults(self.directory):
                    self._drop_failed_write()
                    self._files.seal(self.producers)
        finally:
            self._files.segments.release()

    def _end_at(self, end_offset: int) -> None:
        self.written_end_offset = end_offset
        self._appender.roll_back(end_offset, self._files.segments.active)

    def _truncate_epochs(self) -> int:
        self.epochs.truncate_from_end(self.written_end_offset)
        with disk_faults(self.directory):
            self._files.save_epochs()
        return self.written_end_offset

    def _lower_recovery_point(self, offset: int) -> None:
        if self._syncs.lower(offset):
            self.on_recovery_point_lowered()

    def _require_nothing_staged(self) -> None:
        if self._appender.runs:
            raise RuntimeError(f"{self.directory}: {self.end_offset} is staged, not committed")


def _do_nothing() -> None:
    pass
