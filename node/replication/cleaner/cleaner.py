"""One cleaner: it takes a partition, lets a worker clean it slice by slice, and takes the next.

Between slices the loop is in charge: there a cleaning is given up when its log was truncated,
deleted, moved, or is held off, cleaned segments are swapped in, and the pauses are made that keep
the cleaner within its share of the disk and of the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from logquake.node.journal_events import LOG_CLEANED
from logquake.node.replication.cleaner.candidates import Candidates, Grabbed, key_of
from logquake.node.replication.partition.roles import Offline
from logquake.node.replication.settings import CleanerSettings
from logquake.seams.journal import Event, Journal
from logquake.seams.scheduler import Scheduler, Timer
from logquake.seams.workers import Workers
from logquake.storage.cleaner.cleaning import Cleaning, Finished, Replacement, Step, Worked
from logquake.storage.errors import StorageError
from logquake.storage.log.deleted_files import DeletedFiles
from logquake.storage.log.log import Log
from logquake.storage.segments.batch_walk import DamagedBatchError
from logquake.storage.segments.index_file import DamagedIndexError
from logquake.storage.throttle import Throttle


@dataclass(frozen=True, slots=True)
class CleanerTools:
    """What all cleaners of a broker share."""

    settings: CleanerSettings
    candidates: Candidates
    throttle: Throttle
    scheduler: Scheduler
    workers: Workers
    journal: Journal
    write_checkpoint: Callable[[], None]
    remove_later: Callable[[DeletedFiles, int], None]  # delay in ms


@dataclass(frozen=True, slots=True)
class _Job:
    grabbed: Grabbed
    log: Log
    cleaning: Cleaning
    size_before: int
    began_ms: int


class Cleaner:
    def __init__(self, tools: CleanerTools) -> None:
        self._tools = tools
        self._timer: Timer | None = None
        self._resting: _Job | None = None  # between two slices
        self._is_stopped = False

    def start(self) -> None:
        self._is_stopped = False
        self._in(0, self._look)

    def stop(self) -> None:
        """Begin nothing more. A slice under way ends on its worker, and is then given up."""
        self._is_stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def retire(self) -> None:
        """Stop, and leave what was being cleaned to others."""
        self.stop()
        if self._resting is not None:
            self._discard(self._resting)

    def _look(self) -> None:
        grabbed = self._tools.candidates.grab()
        if grabbed is None:
            self._in(self._tools.settings.backoff_ms, self._look)
        else:
            self._begin(grabbed)

    def _begin(self, grabbed: Grabbed) -> None:
        tools, log = self._tools, grabbed.partition.replica.log
        try:
            if log.cleaning.cleaned_to is None:
                # Before there are gaps: recovery must know that a log has some.
                log.cleaning.cleaned_to = grabbed.to_clean.first_dirty
                tools.write_checkpoint()
            cleaning = log.cleaning.begin(
                grabbed.to_clean, tools.settings.bounds, tools.scheduler.wall_ms()
            )
        except (StorageError, DamagedBatchError, DamagedIndexError) as error:
            self._on_fault(grabbed, error)
            self._give_up(grabbed)
            return
        job = _Job(grabbed, log, cleaning, log.size, tools.scheduler.now_ms())
        self._work(job)

    def _work(self, job: _Job) -> None:
        self._resting = None
        if self._is_void(job):
            self._discard(job)
            return
        began_ms = self._tools.scheduler.now_ms()
        self._tools.workers.run_in_worker(
            job.cleaning.work, lambda worked: self._on_worked(job, worked, began_ms)
        )

    def _on_worked(self, job: _Job, worked: Future[Step], began_ms: int) -> None:
        if self._is_void(job):
            self._discard(job)
            return
        error = worked.exception()
        if error is not None:
            self._on_fault(job.grabbed, error)
            self._discard(job)
            return
        try:
            self._on_step(job, worked.result(), began_ms)
        except StorageError as fault:
            self._on_fault(job.grabbed, fault)
            self._discard(job)

    def _on_step(self, job: _Job, step: Step, began_ms: int) -> None:
        match step:
            case Worked(size):
                self._resting = job
                self._in(self._pause_ms(size, began_ms), lambda: self._work(job))
            case Replacement():
                replaced = job.log.cleaning.swap(job.cleaning, step)
                self._tools.remove_later(replaced, job.log.config.file_delete_delay_ms)
                self._work(job)
            case Finished(end_offset):
                self._finish(job, end_offset)

    def _finish(self, job: _Job, end_offset: int) -> None:
        before = job.log.cleaning.cleaned_to
        if self._tools.candidates.states.done(key_of(job.grabbed.partition)):
            job.log.cleaning.cleaned_to = end_offset
            self._tools.write_checkpoint()
            self._record(job, before, end_offset)
        self._in(0, self._look)

    def _is_void(self, job: _Job) -> bool:
        """Nobody wants the result any more, or it would be wrong."""
        partition = job.grabbed.partition
        return (
            self._is_stopped
            or job.log.is_closed
            or job.log is not partition.replica.log
            or isinstance(partition.role, Offline)
            or self._tools.candidates.states.is_aborted(key_of(partition))
            or job.log.cleaning.is_overtaken(job.cleaning)
        )

    def _discard(self, job: _Job) -> None:
        job.cleaning.discard()
        self._give_up(job.grabbed)

    def _give_up(self, grabbed: Grabbed) -> None:
        self._tools.candidates.states.done(key_of(grabbed.partition))
        self._in(self._tools.settings.backoff_ms, self._look)

    def _on_fault(self, grabbed: Grabbed, error: BaseException) -> None:
        """The disk's faults take the partition offline.

        Whatever else a log makes go wrong, as Kafka has it: compaction leaves the log alone, and
        the broker lives on.
        """
        partition = grabbed.partition
        if isinstance(error, OSError | StorageError):
            partition.go_offline(f"{partition.replica.log.directory}: cleaning: {error}")
        else:
            self._tools.candidates.mark_uncleanable(partition, f"{type(error).__name__}: {error}")

    def _pause_ms(self, size: int, began_ms: int) -> float:
        now_ms = self._tools.scheduler.now_ms()
        share = self._tools.settings.cpu_share
        rest_ms = (now_ms - began_ms) * (1 - share) / share
        return max(rest_ms, self._tools.throttle.pause_ms(size, now_ms))

    def _in(self, delay_ms: float, action: Callable[[], None]) -> None:
        if not self._is_stopped:
            self._timer = self._tools.scheduler.call_later(delay_ms, action)

    def _record(self, job: _Job, before: int | None, end_offset: int) -> None:
        stats = job.cleaning.stats
        took_ms = self._tools.scheduler.now_ms() - job.began_ms
        self._tools.journal.record(
            Event(
                LOG_CLEANED,
                job.grabbed.partition.name,
                f"{job.grabbed.to_clean.why}; offsets {before} to {end_offset - 1} are clean now; "
                f"{stats.records_written} of {stats.records_read} records kept, "
                f"{stats.segments_written} of {stats.segments_read} segments, in {took_ms} ms",
                stats.bytes_read,
                stats.bytes_written,
            )
        )
