"""Which transactions ListTransactions shows (KIP-664, KIP-994)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from logquake.node.coordinators.transactions.metadata import Transaction
from logquake.node.coordinators.transactions.states import STATES, Dead, state_name

_NAMES = frozenset(state.__name__ for state in STATES)


def unknown_states(names: Collection[str]) -> list[str]:
    """Those that are no state's, each once."""
    return [name for name in dict.fromkeys(names) if name not in _NAMES]


@dataclass(frozen=True, slots=True)
class TransactionFilter:
    """What is empty admits all. A state that nobody knows admits none.

    ``longer_than_ms``, unless it is negative: since so long ago. What has not begun has been going
    on for ever, as Kafka has it.
    """

    producer_ids: frozenset[int] = frozenset()
    states: frozenset[str] = frozenset()
    longer_than_ms: int = -1

    def admits(self, transaction: Transaction, now_ms: int) -> bool:
        state = transaction.state
        if isinstance(state, Dead):
            return False
        if self.producer_ids and transaction.producer.id not in self.producer_ids:
            return False
        if self.states and state_name(state) not in self.states:
            return False
        return self.longer_than_ms < 0 or now_ms - state.started_ms > self.longer_than_ms
