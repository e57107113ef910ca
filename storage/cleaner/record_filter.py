"""Which batches and records of a compacted log stay: pure decisions (Cleaner.cleanInto).

A record stays when it is the latest of its key, as far as the offset map knows; a tombstone stays
until the delete horizon of its batch (KIP-534), which the first cleaning that meets it sets. A
record without a key goes. Records of aborted transactions go; a marker goes at its horizon, once
nothing of its transaction is left. The last batch of a producer that is still known stays, empty
if need be, because its sequence numbers are read from it after a restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from logquake.storage.cleaner.transactions import CleanedTransactions
from logquake.wire.records import BatchHeader, ControlType, Record
from logquake.wire.sentinels import UNKNOWN_OFFSET


class LatestOffsets(Protocol):
    """An OffsetMap, or a model of one."""

    latest_offset: int

    def get(self, key: bytes) -> int: ...


class LastRecord(NamedTuple):
    """Of one producer: its last batch of records ends at data_offset, UNKNOWN_OFFSET where only
    markers are.
    """

    data_offset: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Horizon:
    """When tombstones and markers go; times in ms.

    now_ms is when the cleaning began: the horizon set by it is delete_retention_ms later.
    Batches of magic 0 and 1 have no place for one; keeps_legacy_deletes decides of a whole
    segment, by the age of its file.
    """

    now_ms: int
    delete_retention_ms: int
    keeps_legacy_deletes: bool = True

    @property
    def next_ms(self) -> int:
        return self.now_ms + self.delete_retention_ms

    def has_passed(self, header: BatchHeader) -> bool:
        return header.has_delete_horizon and header.base_timestamp <= self.now_ms


class WhenEmpty(Enum):
    """What becomes of a batch all of whose records go."""

    REMOVED = "removed"
    KEPT = "kept"


class BatchVerdict(NamedTuple):
    """``drops_records``: none stays, whatever it is. ``marks_empty_txn``: a marker, and nothing
    else of its transaction is left.
    """

    when_empty: WhenEmpty
    drops_records: bool
    marks_empty_txn: bool


class RecordFilter:
    """Of one pass over a log; batches are to be judged in the order of the log, each once."""

    def __init__(
        self,
        latest: LatestOffsets,
        transactions: CleanedTransactions,
        last_records: Mapping[int, LastRecord],
    ) -> None:
        self._latest = latest
        self._transactions = transactions
        self._last_records = last_records

    def judge_data(self, header: BatchHeader) -> BatchVerdict:
        is_aborted = self._transactions.on_data(header)
        return BatchVerdict(self._when_empty(header), is_aborted, False)

    def judge_control(
        self, header: BatchHeader, marker: ControlType | None, horizon: Horizon
    ) -> BatchVerdict:
        """marker is None for a control batch that ends no transaction."""
        # An empty one was cleaned before.
        goes = header.record_count == 0 or self._transactions.on_control(header, marker)
        return BatchVerdict(self._when_empty(header), goes and horizon.has_passed(header), goes)

    def keeps(self, record: Record, header: BatchHeader, horizon: Horizon) -> bool:
        """Does a record stay, of a batch of records that is not dropped as a whole?"""
        if record.offset > self._latest.latest_offset:
            return True
        if record.key is None or record.offset < self._latest.get(record.key):
            return False
        return record.value is not None or _keeps_tombstones(header, horizon)

    def _when_empty(self, header: BatchHeader) -> WhenEmpty:
        last = self._last_records.get(header.producer_id) if header.has_producer_id else None
        if last is None:
            return WhenEmpty.REMOVED
        if last.data_offset != UNKNOWN_OFFSET:
            is_last = header.last_offset == last.data_offset
        else:
            is_last = header.is_control and header.producer_epoch == last.epoch
        return WhenEmpty.KEPT if is_last else WhenEmpty.REMOVED


def _keeps_tombstones(header: BatchHeader, horizon: Horizon) -> bool:
    if header.is_legacy:
        return horizon.keeps_legacy_deletes
    return not horizon.has_passed(header)
