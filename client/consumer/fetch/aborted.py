"""Hides the records of aborted transactions from readers (KIP-98).

The answer to a READ_COMMITTED Fetch lists the aborted transactions in its range: producer and first
offset of each. From there to that producer's abort marker its transactional batches are hidden.
"""

from __future__ import annotations

from collections.abc import Iterable

from logquake.wire.messages.fetch import AbortedTransaction
from logquake.wire.records import BatchHeader, ControlType, read_end_marker


class AbortedBatches:
    """Given all batches of one response in order, decides which to leave out."""

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        # Latest first, so that the next one to begin is at the end.
        self._upcoming = sorted(aborted, key=lambda one: one.first_offset, reverse=True)
        self._aborting: set[int] = set()

    def hides(self, view: memoryview, position: int, header: BatchHeader) -> bool:
        """Whether the batch holds nothing for a reader, as is true of all control batches. Some
        batches are only a header, which the cleaner left because it is a producer's last batch.

        Raises RecordError for a control batch that cannot be read.
        """
        while self._upcoming and self._upcoming[-1].first_offset <= header.last_offset:
            self._aborting.add(self._upcoming.pop().producer_id)
        if header.is_control:
            marker = read_end_marker(view, position, header) if header.record_count else None
            if marker is not None and marker.control_type is ControlType.ABORT:
                self._aborting.discard(header.producer_id)
            return True
        return header.is_transactional and header.producer_id in self._aborting
