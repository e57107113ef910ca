"""A partition's log together with its high watermark, and the only place where either goes back."""

from __future__ import annotations

from logquake.node.journal_events import (
    COMMITTED_TRUNCATED,
    LOG_BEGUN_WITH_BATCH,
    LOG_RESTARTED,
    LOG_START_RAISED,
    LOG_TRUNCATED,
)
from logquake.seams.journal import Event, EventKind, Journal
from logquake.storage.invariants import asserted_after, must_hold
from logquake.storage.log.log import Log
from logquake.storage.log.replicated_batches import UnexpectedAppendOffset


@asserted_after(
    "advance_to", "continue_in", "append_from_leader", "raise_start", "truncate_to", "restart_at"
)
class ReplicaLog:
    """Staged records count nowhere here: they may still fail to be written.

    Invariant: log start <= last stable offset <= high watermark <= written end.
    """

    __slots__ = ("_journal", "high_watermark", "log", "name")

    def __init__(self, name: str, log: Log, journal: Journal, checkpointed: int) -> None:
        self.name = name
        self.log = log
        self._journal = journal
        self._move_mark(self._within_log(checkpointed))

    def check_invariants(self) -> None:
        """Raises InvariantError; called where invariants are asserted (storage/invariants.py)."""
        start, mark, end = self.start, self.high_watermark, self.end
        must_hold(start <= mark <= end, "start <= high watermark <= end", start, mark, end)
        stable = self.last_stable_offset
        must_hold(start <= stable <= mark, "start <= last stable <= mark", start, stable, mark)

    @property
    def end(self) -> int:
        """The offset after the last record written."""
        return self.log.written_end_offset

    @property
    def start(self) -> int:
        return self.log.start_offset

    @property
    def latest_epoch(self) -> int | None:
        """The leader epoch of the newest entry; None in a log that never had one."""
        return self.log.epochs.latest

    @property
    def last_stable_offset(self) -> int:
        """Below it every transaction is decided, and replicated: as far as read_committed goes."""
        first_unstable = self.log.first_unstable_offset
        mark = self.high_watermark
        return mark if first_unstable is None or first_unstable > mark else first_unstable

    def advance_to(self, high_watermark: int) -> bool:
        """Move the mark forward, never back; whether it moved.

        A follower's mark does not follow a new leader's back either: what was once committed
        stays so, and the new leader's mark will catch up.
        """
        mark = self._within_log(high_watermark)
        if mark <= self.high_watermark:
            return False
        self._move_mark(mark)
        return True

    def continue_in(self, log: Log) -> None:
        """Use another log from now on that has the same records, in another directory."""
        self.log = log
        self._move_mark(self.high_watermark)

    def append_from_leader(
        self, records: memoryview, now_ms: int, *, leader_start: int = 0
    ) -> None:
        """Write a leader's batches at the end; now_ms is wall time. RecordError, StorageError.

        A leader's log may start within a batch, which it can only send as a whole. A log that
        waits, empty, for that start then begins with the batch, and must be raised to the start
        again (Kafka's Partition.appendRecordsToFollowerOrFutureReplica). So does one that has only
        records from before that start: they may not be the leader's, whose epochs tell no longer
        where the two parted (there Kafka gives up until the next leader epoch).
        """
        try:
            self.log.stage_as_follower(records, now_ms)
        except UnexpectedAppendOffset as unexpected:
            is_before_leader = self.start == self.end or self.end <= leader_start
            if not (is_before_leader and self.end <= unexpected.last_offset):
                raise
            self._begin_with_batch(unexpected.first_offset)
            self.log.stage_as_follower(records, now_ms)
        self.log.commit()

    def raise_start(self, offset: int, why: str) -> bool:
        """Give up what lies before offset; whether that is a change.

        Raises OffsetOutOfRange beyond the high watermark.
        """
        before = self.start
        raised = self.log.raise_start(offset, self.high_watermark)
        if raised:
            self._journal.record(Event(LOG_START_RAISED, self.name, why, before, offset))
        return raised

    def truncate_to(self, offset: int, why: str) -> None:
        """Drop everything from offset on, and epochs that begin there. Raises StorageError.

        A batch that only begins before offset goes as a whole, so the end may come to lie lower.
        The log is asked even if it ends at offset: an epoch without records may lie beyond.
        """
        end = self.end
        new_end = self.log.truncate_to(offset)
        if new_end < end:
            self._journal_truncation(LOG_TRUNCATED, end, new_end, why)
            self._move_mark(min(self.high_watermark, new_end))

    def restart_at(self, offset: int, why: str) -> None:
        """Drop the whole log and go on at offset. Raises StorageError."""
        end = self.end
        self.log.truncate_fully_and_start_at(offset)
        self._journal_truncation(LOG_RESTARTED, end, offset, why)
        self._move_mark(offset)

    def _begin_with_batch(self, offset: int) -> None:
        """No truncation, though the end goes back: nothing here is in the leader's log still."""
        why = (
            f"the leader's log starts with a batch that {self.end}, the end of this one, is within"
        )
        self._journal.record(Event(LOG_BEGUN_WITH_BATCH, self.name, why, self.end, offset))
        self.log.truncate_fully_and_start_at(offset)
        self._move_mark(offset)

    def _move_mark(self, mark: int) -> None:
        self.high_watermark = mark
        self.log.replicated_to(mark)

    def _journal_truncation(self, what: EventKind, end: int, offset: int, why: str) -> None:
        mark = self.high_watermark
        cause = self._journal.record(Event(what, self.name, why, before=end, after=offset))
        if offset < mark:
            lost = f"offsets {offset} to {mark - 1} were below the high watermark: {why}"
            self._journal.record(
                Event(COMMITTED_TRUNCATED, self.name, lost, mark, offset, caused_by=cause)
            )

    def _within_log(self, offset: int) -> int:
        return max(self.log.start_offset, min(offset, self.log.written_end_offset))
