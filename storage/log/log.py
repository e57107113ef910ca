"""One partition's log: append in two steps, read, truncate, sync (Kafka's UnifiedLog, LocalLog).

Appends are staged first and written together: stage_as_leader and stage_as_follower check and
remember views of the sender's bytes, commit() writes them with one pwritev a segment. Until then
nothing of them can be read, and when commit() fails nothing of them counts.

Log is only the front: its parts (commit.py, reader.py, cuts.py, sync.py, compaction.py, ...) share
a LogState, and a new behaviour is a further part beside them.

Single-threaded, except PendingSync.run() and Cleaning.work().
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from logquake.storage.disk.seam import Disk
from logquake.storage.errors import DISK_FAULTS, StorageError, disk_faults
from logquake.storage.invariants import asserted_after, must_hold
from logquake.storage.log.appended import Appended
from logquake.storage.log.commit import LogCommit
from logquake.storage.log.compaction import LogCleaning
from logquake.storage.log.cuts import LogCuts
from logquake.storage.log.last_run import NOTHING_TO_REPAIR, CleanStop, LastRun, UncleanStop
from logquake.storage.log.leader_epochs import LeaderEpochs
from logquake.storage.log.opening import ALONE, LogOpening, OpeningTerms
from logquake.storage.log.reader import LogReader
from logquake.storage.log.recovery import RecoveryReport
from logquake.storage.log.retiring import LogRetention, Retired
from logquake.storage.log.slice import LogSlice
from logquake.storage.log.start import LogStart
from logquake.storage.log.state import LogState
from logquake.storage.log.sync import LogSyncs, PendingSync
from logquake.storage.log.transactions import LogTransactions
from logquake.storage.log_config import LogConfig
from logquake.storage.producers.state import ProducerStates
from logquake.storage.producers.verification import VerificationGuard
from logquake.storage.segments.open_files import OpenFiles
from logquake.storage.segments.txn_index import AbortedTransaction
from logquake.wire.records import BatchHeader


@asserted_after(
    "stage_as_leader",
    "stage_as_follower",
    "commit",
    "raise_start",
    "delete_old",
    "prepare_cut",
    "truncate_to",
    "truncate_fully_and_start_at",
    "finish_sync",
    "fail_sync",
    "sync",
)
class Log:
    """Offsets: [start_offset, written_end_offset) can be read, end_offset counts what is staged.

    recovery tells what open() repaired. cleaning is the log's part in its compaction.

    Invariants, besides those of its state (LogState):
    - recovery_point <= written_end_offset: nothing counts as synced that is not written.
    """

    def __init__(
        self, disk: Disk, directory: str, config: LogConfig, open_files: OpenFiles | None
    ) -> None:
        """Use Log.open."""
        self.directory = directory
        self.recovery = RecoveryReport()
        self.is_closed = False
        self._state = state = LogState(disk, directory, config, open_files)
        self._syncs = LogSyncs(state)
        self._commit = LogCommit(state, self._syncs)
        self._start = LogStart(state)
        self._retention = LogRetention(state, self._start, self._commit)
        self.cleaning = LogCleaning(state, self._syncs)
        self._cuts = LogCuts(state, self._syncs, self.cleaning)
        self._reader = LogReader(state)
        self._transactions = LogTransactions(state)

    @classmethod
    def open(
        cls,
        disk: Disk,
        directory: str,
        config: LogConfig,
        last_run: LastRun = NOTHING_TO_REPAIR,
        terms: OpeningTerms = ALONE,
    ) -> Log:
        """Open the log in directory, created when missing: log/opening.py tells how.

        Raises StorageError.
        """
        log = cls(disk, directory, config, terms.open_files)
        with disk_faults(directory):
            log.recovery = LogOpening(log._state, last_run, terms).run()
        match last_run.stop:
            case CleanStop():
                log._syncs.recovery_point = log.written_end_offset
            case UncleanStop(recovery_point):
                log._syncs.recovery_point = min(recovery_point, log.written_end_offset)
        log.cleaning.cleaned_to = last_run.cleaned_to
        return log

    def check_invariants(self) -> None:
        """Raises InvariantError; called where invariants are asserted (storage/invariants.py)."""
        self._state.check_invariants()
        point, end = self.recovery_point, self.written_end_offset
        must_hold(point <= end, "synced <= written", point, end)

    @property
    def config(self) -> LogConfig:
        return self._state.config

    @property
    def topic_id(self) -> bytes | None:
        """None without one: its topic is of a time before ids, or a crash came before write()."""
        return self._state.files.metadata.topic_id

    @property
    def start_offset(self) -> int:
        return self._state.start_offset

    @property
    def written_end_offset(self) -> int:
        return self._state.written_end_offset

    @property
    def end_offset(self) -> int:
        return self._state.appender.end_offset

    @property
    def recovery_point(self) -> int:
        """The offset below which everything is synced."""
        return self._syncs.recovery_point

    @property
    def cuts(self) -> int:
        """How often something was dropped: work in between notices by it."""
        return self._syncs.cuts

    @property
    def epochs(self) -> LeaderEpochs:
        """Changes made here directly are written by the next commit()."""
        return self._state.files.epochs

    @property
    def producers(self) -> ProducerStates:
        return self._state.producers

    @property
    def size(self) -> int:
        """Bytes of all batches."""
        return self._state.files.segments.size

    def when_rolled(self, action: Callable[[], None]) -> None:
        """Call action after each commit() that began a segment: those before it can be synced."""
        self._commit.on_rolled = action

    def checkpointed_by(
        self, write_recovery_points: Callable[[], None], write_cleaned: Callable[[], None]
    ) -> None:
        """Call these before a cut below what the directory's checkpoints may say."""
        self._syncs.checkpoint.write = write_recovery_points
        self.cleaning.checkpoint.write = write_cleaned

    def assign_topic_id(self, topic_id: bytes) -> None:
        """Be that topic's. write_topic_id() makes it last, and so does the first commit()."""
        self._state.files.metadata.record(topic_id)

    def write_topic_id(self) -> None:
        """Record an assigned topic id in partition.metadata, durably.

        On any thread; blocks. Raises StorageError. Nothing happens where it is recorded.
        """
        with disk_faults(self.directory):
            self._state.files.metadata.write()

    def reconfigure(self, config: LogConfig) -> None:
        """Use other settings from the next append, and the next segment, on."""
        self._state.configure(config)

    # Transactions

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the first transaction begins that is undecided, or whose end is not replicated."""
        return self._transactions.first_unstable_offset

    def replicated_to(self, high_watermark: int) -> None:
        """Transactions that ended below the high watermark are stable from now on."""
        self._state.producers.transactions.replicated_to(high_watermark)

    def aborted_transactions(self, fetch_offset: int, upper_bound: int) -> list[AbortedTransaction]:
        """Those that overlap [fetch_offset, upper_bound). Raises StorageError."""
        return self._transactions.aborted(fetch_offset, upper_bound)

    def aborted_in(self, fetch_offset: int, records: LogSlice) -> list[AbortedTransaction]:
        """Those that may have records in what read(fetch_offset) found. Raises StorageError."""
        return self._transactions.aborted_in(fetch_offset, records)

    def begin_verification(
        self, producer_id: int, epoch: int, sequence: int, now_ms: int
    ) -> VerificationGuard | None:
        """What stage_as_leader() wants of a producer's batch that would open a transaction here.

        To be used once the transaction's coordinator knows of it. None where nobody need be asked:
        the transaction is open, or transactions are not verified. now_ms is wall time.
        """
        return self.producers.begin_verification(producer_id, epoch, sequence, now_ms)

    # Appending

    def stage_as_leader(
        self,
        records: memoryview,
        leader_epoch: int,
        now_ms: int,
        *,
        header: BatchHeader | None = None,
        guard: VerificationGuard | None = None,
        internal: bool = False,
    ) -> Appended:
        """Check one batch, give it offsets and the epoch in place, and remember it for commit().

        records is writable and stays untouched until commit(). header is that of the only batch
        in it, where it was read before. Without one, records may be an old producer's message
        set, which becomes one batch of magic 2; nothing complete in them is no error: the offsets
        are -1 then. guard: that of begin_verification(), for a batch that opens a transaction.
        internal: a batch that the broker made itself, which may be a control batch and has no
        sequence. A batch that repeats one of its producer's last five answers that
        one's offsets, duplicate set. Raises RecordError, StorageError.
        """
        try:
            return self._state.appender.stage_as_leader(
                records, leader_epoch, now_ms, header=header, guard=guard, internal=internal
            )
        except DISK_FAULTS as error:
            raise StorageError(self.directory, f"appending: {error}") from error

    def stage_as_follower(self, records: memoryview, now_ms: int = 0) -> Appended:
        """Remember a leader's batches, offsets and epochs kept; an incomplete last one is left out.

        now_ms, wall time, ages a segment whose first batch has no timestamp.
        Raises RecordError when one is damaged or does not continue this log; those before it in
        records are then not staged either. UnexpectedAppendOffset is the one that tells of records
        which are intact, and begin before this log's end. Raises StorageError.
        """
        try:
            return self._state.appender.stage_as_follower(records, now_ms)
        except DISK_FAULTS as error:
            raise StorageError(self.directory, f"appending: {error}") from error

    def commit(self) -> None:
        """Write all that is staged. Raises StorageError, and then nothing of it counts."""
        self._commit.commit()

    def expire_producers(self, now_ms: int) -> None:
        """Forget who wrote nothing for producer.id.expiration.ms; now_ms is wall time."""
        self.producers.expire(now_ms, self.config.producer_expiration_ms)

    # Reading

    def read(
        self, offset: int, max_bytes: int, *, up_to: int, min_one_batch: bool = True
    ) -> LogSlice:
        """Up to max_bytes from the batch that holds offset, of batches wholly below up_to.

        Empty when there is none, or when the first exceeds max_bytes without min_one_batch.
        Raises OffsetOutOfRange, StorageError, RecordError where what lies there is damaged.
        """
        return self._reader.read(offset, max_bytes, up_to=up_to, min_one_batch=min_one_batch)

    def headers(self, from_offset: int) -> Iterator[BatchHeader]:
        """Headers of the written batches from the one that holds from_offset on."""
        with disk_faults(self.directory):
            yield from self._reader.headers(from_offset)

    def offset_for_time(self, timestamp_ms: int) -> tuple[int, int] | None:
        """(timestamp, offset) of the first record at or after timestamp_ms, None without one.

        Raises StorageError, RecordError.
        """
        with disk_faults(self.directory):
            return self._reader.first_record_at(timestamp_ms)

    def offset_of_max_timestamp(self) -> tuple[int, int] | None:
        """(timestamp, offset) of the first record with the largest timestamp; raises the same."""
        with disk_faults(self.directory):
            return self._reader.record_with_max_timestamp()

    def segment_bounds(self, now_ms: int) -> list[tuple[int, int]]:
        """(offset, time of the last write) of where each segment begins, oldest first.

        The log's start stands for what lies before it. Last comes the log's end, which counts as
        written at now_ms, wall time, unless the last segment is empty. Raises StorageError.
        """
        with disk_faults(self.directory):
            return self._reader.segment_bounds(now_ms)

    # The log's start

    @property
    def start_is_within_segment(self) -> bool:
        """Records before start_offset are still in the files: a restart needs the checkpoint."""
        return self._start.is_within_segment

    def raise_start(self, offset: int, high_watermark: int) -> bool:
        """Start at offset from now on, never back; whether that is a change.

        Raises OffsetOutOfRange beyond the high watermark.
        """
        return self._start.raise_to(offset, high_watermark)

    def delete_old(self, now_ms: int, high_watermark: int) -> list[Retired]:
        """Take segments out that are too old, too many, or before the start; now_ms is wall time.

        Their files are left to the caller, to be removed after file.delete.delay.ms. Raises
        StorageError.
        """
        return self._retention.delete_old(now_ms, high_watermark)

    # Cutting, syncing, closing

    def prepare_cut(self, offset: int) -> bool:
        """Lower what checkpoints say, in memory, for truncate_to(offset); whether one is owed.

        A cut that owes checkpoints has them written first. Of many logs whoever cuts them writes
        them once, and tells by note_checkpointed().
        """
        return self._cuts.prepare(offset)

    def note_checkpointed(self) -> None:
        """The directory's checkpoints are written since prepare_cut()."""
        self._cuts.note_checkpointed()

    def truncate_to(self, offset: int) -> int:
        """Drop the batch that holds offset and all after it; the new end offset.

        Leader epochs that begin at the end or later go too, so that a leader's epoch in which
        nothing was written does not stand in the next one's way.
        """
        return self._cuts.truncate_to(offset)

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Drop everything; the next append is at offset."""
        self._cuts.truncate_fully_and_start_at(offset)

    @property
    def unsynced_roll(self) -> bool:
        """Segments that are written to no more are not synced yet."""
        return self._syncs.unsynced_roll

    def begin_sync(self, *, rolled_only: bool = False) -> PendingSync:
        """Collect what finish_sync() may call synced once run() returned. Raises StorageError.

        rolled_only leaves the active segment out.
        """
        return self._syncs.begin(rolled_only=rolled_only)

    def finish_sync(self, pending: PendingSync) -> None:
        self._syncs.finish(pending)

    def fail_sync(self, pending: PendingSync) -> None:
        """run() failed: neither it nor a later sync may claim what it was to make safe."""
        self._syncs.fail(pending)

    def sync(self) -> None:
        """Make everything written survive a loss of power. Raises StorageError."""
        self._syncs.sync()

    def close(self, clean: bool) -> None:
        """Let go of the files; clean: leave them so that the next start need not scan them.

        Raises StorageError, the files released all the same.
        """
        self.is_closed = True
        files = self._state.files
        if not clean:
            files.metadata.abandon()
        try:
            if clean:
                self._state.require_nothing_staged()
                self.sync()
                with disk_faults(self.directory):
                    self._commit.drop_failed_write()
                    files.seal(self.producers)
        finally:
            files.segments.release()
