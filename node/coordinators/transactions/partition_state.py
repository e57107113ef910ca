"""The transactional ids of one partition of __transaction_state: what its log says."""

from __future__ import annotations

from collections.abc import Iterator

from logquake.node.coordinators.replay import LoggedRecord
from logquake.node.coordinators.transactions.log_records import read_key, read_value
from logquake.node.coordinators.transactions.metadata import Transaction


class PartitionState:
    """Of each id the latest record counts; a tombstone forgets it."""

    def __init__(self) -> None:
        self._transactions: dict[str, Transaction] = {}

    def __iter__(self) -> Iterator[Transaction]:
        """In the order in which they came to be known; ids may be forgotten meanwhile."""
        return iter(list(self._transactions.values()))

    def __len__(self) -> int:
        return len(self._transactions)

    def get(self, transactional_id: str) -> Transaction | None:
        return self._transactions.get(transactional_id)

    def add(self, transaction: Transaction) -> None:
        """An id that nobody used before, whose first record is still to be written."""
        self._transactions[transaction.transactional_id] = transaction

    def forget(self, transactional_id: str) -> None:
        self._transactions.pop(transactional_id, None)

    def replay(self, record: LoggedRecord) -> None:
        """Raises ProtocolError."""
        transactional_id = read_key(record.key)
        if transactional_id is None:
            return  # of a kind that a later Kafka wrote
        if record.value is None:
            self.forget(transactional_id)
        else:
            self.add(Transaction(transactional_id, read_value(record.value)))

    def replay_marker(self, producer_id: int, *, committed: bool) -> None:
        """Nobody writes transactions to this topic."""
