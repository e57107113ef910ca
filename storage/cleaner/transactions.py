"""What a cleaning knows of transactions as it reads a log from its start.

The rules of Kafka's CleanedTransactionMetadata: records of aborted transactions go, a marker stays
until nothing of its transaction is left.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from logquake.storage.segments.txn_index import AbortedTransaction
from logquake.wire.records import BatchHeader, ControlType


class CleanedTransactions:
    """Batches are to be told in the order of the log, each once."""

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._to_come: list[tuple[int, int, AbortedTransaction]] = []
        for index, txn in enumerate(aborted):
            heappush(self._to_come, (txn.first_offset, index, txn))
        self._aborted: dict[int, AbortedTransaction] = {}  # ongoing here, by producer id
        self._seen: set[int] = set()  # those of them that have batches left
        self._committed: set[int] = set()
        self._kept: list[AbortedTransaction] = []

    def on_data(self, header: BatchHeader) -> bool:
        """A batch of records; whether it belongs to an aborted transaction."""
        self._begin_up_to(header.last_offset)
        if not header.is_transactional:
            return False
        if header.producer_id in self._aborted:
            self._seen.add(header.producer_id)
            return True
        self._committed.add(header.producer_id)
        return False

    def on_control(self, header: BatchHeader, marker: ControlType | None) -> bool:
        """A control batch; whether nothing of its transaction is left.

        marker is None for a control batch that ends no transaction. An empty batch is not told.
        """
        self._begin_up_to(header.last_offset)
        producer_id = header.producer_id
        if marker is ControlType.ABORT:
            return self._on_abort(producer_id)
        if marker is ControlType.COMMIT:
            was_seen = producer_id in self._committed
            self._committed.discard(producer_id)
            return not was_seen
        return False

    def take_kept(self) -> list[AbortedTransaction]:
        """Aborted transactions of which something is left, since the last call, by their markers.

        The index of what is written needs them.
        """
        kept, self._kept = self._kept, []
        return kept

    def _on_abort(self, producer_id: int) -> bool:
        txn = self._aborted.pop(producer_id, None)
        if txn is None or producer_id not in self._seen:
            return True
        self._seen.discard(producer_id)
        self._kept.append(txn)
        return False

    def _begin_up_to(self, offset: int) -> None:
        while self._to_come and self._to_come[0][0] <= offset:
            txn = heappop(self._to_come)[2]
            self._aborted.setdefault(txn.producer_id, txn)
