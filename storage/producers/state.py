"""What a partition knows of its idempotent and transactional producers (ProducerStateManager).

The five latest batches of each producer id tell a repeated batch from a new one, the last sequence
tells a gap (KIP-98; the rules are in rules.py). Who is in a transaction is held back for
readers of committed records (transactions.py).

Updates are provisional until keep(): the batches behind them are staged, not yet written.
"""

from __future__ import annotations

from collections.abc import Iterable

from logquake.storage.producers import rules
from logquake.storage.producers.entry import BatchMetadata, ProducerEntry
from logquake.storage.producers.hash_order import FIRST_SLOTS, in_hash_order, slots_for
from logquake.storage.producers.transactions import Transactions
from logquake.storage.producers.verification import VerificationGuard, Verifications
from logquake.storage.segments.txn_index import AbortedTransaction
from logquake.wire.records import BatchHeader, ControlType, EndMarker


class ProducerStates:
    """``end_offset`` is the offset up to which the log's batches are reflected."""

    def __init__(self) -> None:
        self.end_offset = 0
        self.transactions = Transactions()
        self.verifications = Verifications()
        self._entries: dict[int, ProducerEntry] = {}
        self._slots = FIRST_SLOTS
        self._before: dict[int, ProducerEntry | None] = {}
        self._end_offset_before: int | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, producer_id: int) -> ProducerEntry | None:
        return self._entries.get(producer_id)

    def entries(self) -> list[ProducerEntry]:
        """All of them, in the order in which Kafka writes them to a snapshot."""
        ordered = in_hash_order(self._entries, self._slots)
        return [self._entries[producer_id] for producer_id in ordered]

    # What a leader may append

    def begin_verification(
        self, producer_id: int, epoch: int, sequence: int, now_ms: int
    ) -> VerificationGuard | None:
        """With what a transaction that begins with this batch is appended, once it is verified.

        None where nothing is to be verified: the transaction is open here already, or none is.
        """
        entry = self._entries.get(producer_id)
        if not self.verifications.required or (entry is not None and entry.in_transaction):
            return None
        return self.verifications.begin(producer_id, epoch, sequence, now_ms)

    def check(
        self, header: BatchHeader, guard: VerificationGuard | None = None
    ) -> BatchMetadata | None:
        """May a client's batch be appended? The earlier batch when it only repeats that one.

        guard: that of its verification. Raises RecordError as the rules do.
        """
        producer_id = header.producer_id
        entry = self._entries.get(producer_id)
        if entry is not None:
            duplicate = rules.find_duplicate(entry, header)
            if duplicate is not None:
                return duplicate
        under_way = self.verifications.get(producer_id)
        self._check_verified(entry, header, under_way, guard)
        if entry is not None or under_way is not None:
            rules.check_produced(entry or ProducerEntry(producer_id), header, under_way)
        return None

    def check_internal(
        self, header: BatchHeader, marker: EndMarker | None, guard: VerificationGuard | None = None
    ) -> None:
        """May a coordinator's batch be appended? marker: what it says if it is a control batch.

        Raises RecordError as the rules do.
        """
        entry = self._entries.get(header.producer_id)
        if marker is None:
            under_way = self.verifications.get(header.producer_id)
            self._check_verified(entry, header, under_way, guard)
            if entry is not None:
                rules.check_internal(entry, header)
        else:
            known = entry or ProducerEntry(header.producer_id)
            rules.check_end_marker(known, header, marker.coordinator_epoch)

    def _check_verified(
        self,
        entry: ProducerEntry | None,
        header: BatchHeader,
        under_way: VerificationGuard | None,
        guard: VerificationGuard | None,
    ) -> None:
        if header.is_transactional and self.verifications.required:
            rules.check_verified(entry, header, under_way, guard)

    # What was appended

    def append_data(self, header: BatchHeader, first_offset: int, timestamp: int) -> None:
        """A batch of records was appended at first_offset."""
        last_offset = first_offset + header.last_offset_delta
        if header.has_producer_id:
            self._put(self._with_batch(header, first_offset, last_offset, timestamp))
        self._advance(last_offset + 1)

    def append_end_marker(
        self, header: BatchHeader, first_offset: int, marker: EndMarker, timestamp: int
    ) -> AbortedTransaction | None:
        """The marker that ends the producer's transaction was appended at first_offset.

        What .txnindex must list: None unless it aborts something that is in the log.
        """
        entry = self._entry(header.producer_id)
        self.verifications.end(header.producer_id)
        self._put(entry.with_end_marker(header.producer_epoch, marker.coordinator_epoch, timestamp))
        self._advance(first_offset + header.last_offset_delta + 1)
        if not entry.in_transaction:
            return None
        begin = entry.current_txn_first_offset
        last_stable_offset = self.transactions.end(begin, first_offset)
        if marker.control_type is ControlType.COMMIT:
            return None
        return AbortedTransaction(entry.producer_id, begin, first_offset, last_stable_offset)

    def skip_to(self, end_offset: int) -> None:
        """Everything before end_offset is reflected: it changed no producer."""
        self._advance(end_offset)

    def keep(self) -> None:
        """What was appended is written: it stands."""
        self._before.clear()
        self._end_offset_before = None
        self.transactions.keep()

    def roll_back(self) -> None:
        """Undo every append since keep()."""
        for producer_id, entry in self._before.items():
            if entry is None:
                del self._entries[producer_id]
            else:
                self._entries[producer_id] = entry
        if self._end_offset_before is not None:
            self.end_offset = self._end_offset_before
        self.transactions.roll_back()
        self.keep()

    # The rest of their life

    def expire(self, now_ms: int, expiration_ms: int) -> None:
        """Forget producers without a transaction that wrote nothing for expiration_ms."""
        self.verifications.expire(now_ms, expiration_ms)
        for entry in self.entries():
            if entry.is_expired(now_ms, expiration_ms):
                del self._entries[entry.producer_id]
                self._before.pop(entry.producer_id, None)

    def load(self, entries: Iterable[ProducerEntry], end_offset: int) -> None:
        """Start over from a snapshot."""
        self._entries = {entry.producer_id: entry for entry in entries}
        self._slots = slots_for(len(self._entries), self._slots)
        self.end_offset = end_offset
        self.transactions.load(
            (entry.current_txn_first_offset, entry.producer_id)
            for entry in self._entries.values()
            if entry.in_transaction
        )
        self.keep()

    def _with_batch(
        self, header: BatchHeader, first_offset: int, last_offset: int, timestamp: int
    ) -> ProducerEntry:
        entry = self._entry(header.producer_id)
        begin = entry.current_txn_first_offset
        if header.is_transactional:
            self.verifications.end(header.producer_id)
            if not entry.in_transaction:
                begin = first_offset
                self.transactions.begin(first_offset, header.producer_id)
        batch = BatchMetadata(
            header.last_sequence, last_offset, header.last_offset_delta, timestamp
        )
        return entry.with_batch(header.producer_epoch, batch, begin)

    def _entry(self, producer_id: int) -> ProducerEntry:
        return self._entries.get(producer_id) or ProducerEntry(producer_id)

    def _put(self, entry: ProducerEntry) -> None:
        producer_id = entry.producer_id
        if producer_id not in self._before:
            self._before[producer_id] = self._entries.get(producer_id)
        self._entries[producer_id] = entry
        self._slots = slots_for(len(self._entries), self._slots)

    def _advance(self, end_offset: int) -> None:
        if self._end_offset_before is None:
            self._end_offset_before = self.end_offset
        self.end_offset = end_offset
