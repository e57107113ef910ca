"""One replica on its way into another log directory: copy, sync, catch up, swap.

Pieces are copied on a worker thread until the copy has reached what was the log's end; it is then
synced, so that the swap makes nothing less safe; and what came meanwhile is copied on the loop, at
once with the swap. A log that grew too fast for that gets another round, with a larger last piece.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from logquake.node.journal_events import REPLICA_MOVE_STUCK
from logquake.node.replication.moves.alignment import align, position
from logquake.node.replication.moves.copy_step import CopyStep, Gate, SyncStep, append
from logquake.node.replication.partition.partition import Partition
from logquake.seams.journal import Event
from logquake.seams.scheduler import Scheduler, Timer
from logquake.seams.workers import Workers
from logquake.storage.errors import StorageError
from logquake.storage.log.log import Log
from logquake.storage.log.sync import PendingSync
from logquake.storage.throttle import Throttle
from logquake.wire.errors import RecordError

_LAST_PIECE_BYTES = 256 * 1024  # on the loop: a fraction of a millisecond
_LARGEST_LAST_PIECE_BYTES = 16 * 1024 * 1024
_NEVER_CUT = -1  # below every count of cuts


@dataclass(frozen=True, slots=True)
class MoveTools:
    """``swap`` is called when a future is complete, ``failed`` for a disk's fault of either log."""

    scheduler: Scheduler
    workers: Workers
    throttle: Throttle
    piece_bytes: int
    rest_ms: int
    swap: Callable[[ReplicaMove], None]
    failed: Callable[[StorageError], None]


class ReplicaMove:
    """``future`` is the copy of the partition's log that will take its place."""

    def __init__(self, partition: Partition, future: Log, tools: MoveTools) -> None:
        self.partition = partition
        self.future = future
        self.is_running = False
        self._source = partition.replica.log
        self._tools = tools
        self._gate = Gate()
        self._timer: Timer | None = None
        self._cuts = _NEVER_CUT
        self._goal: int | None = None  # the log's end when the last piece was read
        self._is_synced = False
        self._last_piece_bytes = _LAST_PIECE_BYTES

    def start(self) -> None:
        self.is_running = True
        self._in(0)

    def stop(self) -> None:
        """For good. No step touches the future after it."""
        self.is_running = False
        self._gate.close()
        if self._timer is not None:
            self._timer.cancel()

    def _in(self, delay_ms: float) -> None:
        self._timer = self._tools.scheduler.call_later(delay_ms, self._turn)

    def _turn(self) -> None:
        try:
            self._align()
            if self._is_synced and self._catch_up():
                self._tools.swap(self)
            elif self._is_near() and not self._is_synced:
                self._sync()
            else:
                self._copy()
        except StorageError as error:
            self._tools.failed(error)
        except RecordError as error:
            self._rest(error)

    def _align(self) -> None:
        was_cut = self._source.cuts != self._cuts
        align(self._source, self.future, self.partition.replica.high_watermark, was_cut=was_cut)
        self._cuts = self._source.cuts

    def _is_near(self) -> bool:
        goal = self._source.written_end_offset if self._goal is None else self._goal
        return self.future.written_end_offset >= goal

    # On a worker

    def _copy(self) -> None:
        source, future = self._source, self.future
        end_offset = source.written_end_offset
        self._is_synced, self._goal = False, end_offset
        offset = position(source, future)
        piece = source.read(offset, self._tools.piece_bytes, up_to=end_offset)
        now_ms = self._tools.scheduler.wall_ms()
        step = CopyStep(source, future, piece, source.cuts, now_ms, self._gate)
        self._tools.workers.run_in_worker(step.run, self._on_copied)

    def _on_copied(self, copied: Future[int]) -> None:
        if not self.is_running:
            return
        try:
            size = copied.result()
        except StorageError as error:
            self._tools.failed(error)
        except RecordError as error:
            self._rest(error)
        else:
            now_ms = self._tools.scheduler.now_ms()
            pause_ms = self._tools.throttle.pause_ms(size, now_ms)
            # Nothing to copy, and not at the end: the log was cut, or compaction left a gap there.
            self._in(pause_ms if size else self._tools.rest_ms)

    def _sync(self) -> None:
        pending = self.future.begin_sync()
        step = SyncStep(pending, self._gate)
        self._tools.workers.run_in_worker(step.run, lambda ran: self._on_synced(pending, ran))

    def _on_synced(self, pending: PendingSync, ran: Future[None]) -> None:
        if not self.is_running:
            return
        try:
            ran.result()
        except OSError as error:
            self.future.fail_sync(pending)
            self._tools.failed(StorageError(self.future.directory, f"syncing: {error}"))
            return
        self.future.finish_sync(pending)
        self._is_synced = True
        self._turn()

    # On the loop

    def _catch_up(self) -> bool:
        """Copy what is left, if it is little; whether the future has everything now.

        What is staged is written first: the log that it was staged for is about to go.
        """
        source, future = self._source, self.future
        source.commit()
        end_offset, left = source.written_end_offset, self._last_piece_bytes
        while future.written_end_offset < end_offset:
            offset = position(source, future)
            piece = source.read(offset, left, up_to=end_offset, min_one_batch=False)
            copied = append(future, piece.read(), self._tools.scheduler.wall_ms())
            if not copied:
                self._last_piece_bytes = min(2 * self._last_piece_bytes, _LARGEST_LAST_PIECE_BYTES)
                return False
            left -= copied
        return True

    def _rest(self, error: RecordError) -> None:
        """A damaged batch: perhaps read while it was truncated. Else this stays, and is told."""
        self.partition.context.journal.record(
            Event(REPLICA_MOVE_STUCK, self.partition.name, str(error))
        )
        self._in(self._tools.rest_ms)
