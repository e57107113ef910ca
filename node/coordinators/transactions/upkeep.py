"""What becomes of transactions by time, and of a partition's when its coordinator is a new one."""

from __future__ import annotations

from collections.abc import Iterator

from logquake.node.coordinators.transactions import rules
from logquake.node.coordinators.transactions.decisions import Decisions, TransactionTerm
from logquake.node.coordinators.transactions.log_records import encode_tombstones, tombstone_bytes
from logquake.node.coordinators.transactions.metadata import Transaction
from logquake.node.coordinators.transactions.partition_state import PartitionState
from logquake.node.coordinators.transactions.recurring import Recurring
from logquake.node.coordinators.transactions.settings import TransactionSettings
from logquake.node.coordinators.transactions.states import Dead, Ongoing, Prepared
from logquake.node.journal_events import TRANSACTION_TIMED_OUT
from logquake.seams.journal import Event, Journal
from logquake.seams.scheduler import Scheduler
from logquake.wire.errors import ErrorCode
from logquake.wire.records import HEADER_BYTES
from logquake.wire.sentinels import ACKS_ALL


class Upkeep:
    """Carries out what an earlier coordinator decided, aborts transactions whose time is over,
    forgets transactional ids that nobody uses. It owns the terms; wake() tells it of new ids.
    """

    def __init__(
        self,
        settings: TransactionSettings,
        decisions: Decisions,
        scheduler: Scheduler,
        journal: Journal,
    ) -> None:
        self._settings = settings
        self._decisions = decisions
        self._scheduler = scheduler
        self._journal = journal
        self._terms: dict[int, TransactionTerm] = {}
        self._aborts = Recurring(scheduler, settings.abort_interval_ms, self._abort_timed_out)
        self._expiry = Recurring(scheduler, settings.expiration_interval_ms, self._expire)

    def wake(self) -> None:
        """There is a transaction to look after."""
        self._aborts.wake()
        self._expiry.wake()

    # The terms

    def new_state(self) -> PartitionState:
        return PartitionState()

    def term_began(self, term: TransactionTerm) -> None:
        """Markers of what is decided may be missing, wherever the last coordinator stopped."""
        self._terms[term.index] = term
        for transaction in term.state:
            if isinstance(transaction.state, Prepared):
                self._decisions.carry_out(term, transaction)
        if len(term.state):
            self.wake()

    def term_ended(self, term: TransactionTerm) -> None:
        """What is under way sees for itself that the term is over."""
        del self._terms[term.index]

    def _transactions(self) -> Iterator[tuple[TransactionTerm, Transaction]]:
        for index in sorted(self._terms):
            term = self._terms[index]
            if term.is_current:
                yield from ((term, transaction) for transaction in term.state)

    # Time-outs

    def _abort_timed_out(self) -> bool:
        """Whether some transaction is going on still, or may be once its record is committed."""
        now_ms = self._scheduler.wall_ms()
        goes_on = False
        for term, transaction in self._transactions():
            if rules.is_timed_out(transaction, now_ms):
                self._note_time_out(transaction)
                self._decisions.fence(term, transaction, lambda _error: None)
            pending = transaction.pending is not None
            goes_on = goes_on or pending or isinstance(transaction.state, Ongoing)
        return goes_on

    def _note_time_out(self, transaction: Transaction) -> None:
        producer, timeout_ms = transaction.producer, transaction.metadata.timeout_ms
        why = f"producer {producer.id} in epoch {producer.epoch} did not end it in {timeout_ms} ms"
        self._journal.record(Event(TRANSACTION_TIMED_OUT, transaction.transactional_id, why))

    # Expiry

    def _expire(self) -> bool:
        """Whether any transactional id is left."""
        now_ms, expiration_ms = self._scheduler.wall_ms(), self._settings.id_expiration_ms
        for term in list(self._terms.values()):
            expired = [each for each in term.state if rules.is_expired(each, expiration_ms, now_ms)]
            for transactions in _batches(expired, term.max_batch_bytes):
                self._bury(term, transactions)
        return any(len(term.state) for term in self._terms.values())

    def _bury(self, term: TransactionTerm, transactions: list[Transaction]) -> None:
        """Forget them once their tombstones are committed; else they are found again next time."""
        for transaction in transactions:
            transaction.begin(Dead())

        def buried(error: ErrorCode, _offset: int) -> None:
            for transaction in transactions:
                transaction.give_up()
                if error is ErrorCode.NONE:
                    term.state.forget(transaction.transactional_id)

        ids = [transaction.transactional_id for transaction in transactions]
        batch = encode_tombstones(ids, self._scheduler.wall_ms())
        term.append(batch, ACKS_ALL, self._settings.request_timeout_ms, buried)


def _batches(expired: list[Transaction], limit_bytes: int) -> Iterator[list[Transaction]]:
    """As many as a batch of the topic may have."""
    batch: list[Transaction] = []
    size = HEADER_BYTES
    for transaction in expired:
        more = tombstone_bytes(transaction.transactional_id)
        if batch and size + more > limit_bytes:
            yield batch
            batch, size = [], HEADER_BYTES
        batch.append(transaction)
        size += more
    if batch:
        yield batch
