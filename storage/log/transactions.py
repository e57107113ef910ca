"""What readers of committed records must know of a log's transactions.

Follows Kafka's UnifiedLog (maybeIncrementFirstUnstableOffset) and LocalLog
(addAbortedTransactions, collectAbortedTransactions).
"""

from __future__ import annotations

from logquake.storage.errors import StorageError
from logquake.storage.log.slice import LogSlice
from logquake.storage.log.state import LogState
from logquake.storage.segments.index_file import DamagedIndexError
from logquake.storage.segments.segment import Segment
from logquake.storage.segments.txn_index import AbortedTransaction


class LogTransactions:
    def __init__(self, state: LogState) -> None:
        self._state = state

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the oldest transaction that is undecided, or not yet replicated, begins."""
        first = self._state.producers.transactions.first_unstable_offset
        return None if first is None else max(first, self._state.start_offset)

    def aborted_in(self, fetch_offset: int, records: LogSlice) -> list[AbortedTransaction]:
        """The aborted transactions that may have records in a read's answer to fetch_offset.

        Maybe a few more: the answer's end is known as exactly as the offset index tells it.
        Raises StorageError.
        """
        segments = self._state.files.segments
        segment = segments.from_offset(records.first_offset)[0]
        upper_bound = segment.offset_bound_at(records.position + records.size)
        if upper_bound is None:
            following = segments.after(segment)
            upper_bound = (
                self._state.written_end_offset if following is None else following.base_offset
            )
        return self._collect(segments.from_offset(segment.base_offset), fetch_offset, upper_bound)

    def aborted(self, fetch_offset: int, upper_bound: int) -> list[AbortedTransaction]:
        """The aborted transactions that overlap [fetch_offset, upper_bound), by their markers.

        Raises StorageError.
        """
        segments = self._state.files.segments.from_offset(fetch_offset)
        return self._collect(segments, fetch_offset, upper_bound)

    def _collect(
        self, segments: tuple[Segment, ...], fetch_offset: int, upper_bound: int
    ) -> list[AbortedTransaction]:
        found: list[AbortedTransaction] = []
        try:
            for segment in segments:
                aborted, is_complete = segment.txn_index.collect(fetch_offset, upper_bound)
                found += aborted
                if is_complete:
                    break
        except (OSError, DamagedIndexError) as error:
            why = f"aborted transactions from {fetch_offset} on: {error}"
            raise StorageError(self._state.directory, why) from error
        return found
