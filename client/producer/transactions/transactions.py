"""What the program may do with a transactional id, and when (TransactionManager, KIP-98).

As in Kafka, an operation continues if the program stops waiting for it: until the program knows how
it ended, repeating the call waits for it again, and other calls are refused.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.client.consumer.offsets import ConsumerGroupMetadata
from logquake.client.errors import ClientError, ProducerClosedError, TransactionStateError
from logquake.client.producer.transactions.course import Course
from logquake.client.producer.transactions.ending import End
from logquake.client.producer.transactions.enlisted import AddPartitions
from logquake.client.producer.transactions.numbering import TransactionalNumbering
from logquake.client.producer.transactions.offsets import AddOffsets, CommitOffsets, Offsets
from logquake.client.producer.transactions.operation import Operation
from logquake.client.producer.transactions.producer_ids import InitProducerId
from logquake.client.producer.transactions.producer_states import (
    Aborting,
    Broken,
    Committing,
    Completing,
    Failed,
    Initializing,
    InTransaction,
    Ongoing,
    Ready,
    Remedy,
    State,
    Uninitialized,
)
from logquake.client.producer.transactions.question import Questions, Signature
from logquake.wire.topic_partition import TopicPartition

_STANDS = {
    Uninitialized: "init_transactions() comes first",
    Initializing: "its producer id is being asked for",
    Ready: "no transaction is open, begin_transaction() opens one",
    InTransaction: "a transaction is open, commit_transaction() or abort_transaction() ends it",
    Committing: "the transaction is being committed",
    Aborting: "the transaction is being aborted",
}


class Transactions(TransactionalNumbering):
    """The program's methods raise TransactionStateError in a state that does not allow them, and
    TransactionFailedError, ProducerFencedError or ProducerBrokenError after an error.
    """

    def __init__(self, transactional_id: str, timeout_ms: int) -> None:
        """``timeout_ms``: the coordinator aborts transactions that are open for longer."""
        super().__init__(Course())
        self.transactional_id = transactional_id
        self.questions = Questions()
        self._timeout_ms = timeout_ms
        self._pending: Operation | None = None

    @property
    def state(self) -> State:
        return self.course.state

    @property
    def is_ongoing(self) -> bool:
        return isinstance(self.state, Ongoing)

    @property
    def is_completing(self) -> bool:
        return isinstance(self.state, Completing)

    @property
    def is_ending(self) -> bool:
        """Whether it is ending, or a call about the open transaction is under way."""
        is_called = self._pending is not None and not self._pending.is_done
        return self.is_completing or (self.is_ongoing and is_called)

    # The program's calls

    def init(self) -> Operation:
        return self._start("init_transactions", self._init)

    def _init(self, operation: Operation) -> None:
        self.course.check()
        self._expect("init_transactions", Uninitialized)
        self.course.state = Initializing()
        self.ask_for_id(operation)

    def begin(self) -> None:
        self._check("begin_transaction", Ready)
        self.course.state = InTransaction()

    def check_may_send(self) -> None:
        """Before a record is appended."""
        self._check("send", InTransaction)

    def add(self, place: TopicPartition) -> None:
        """A record was appended: it waits until the transaction has its partition."""
        self.course.enlisted.add(place)

    def send_offsets(self, offsets: Offsets, group: ConsumerGroupMetadata) -> Operation:
        self._check("send_offsets_to_transaction", InTransaction)
        operation = Operation("send_offsets_to_transaction")
        self.questions.add(AddOffsets(CommitOffsets(operation, self._signature(), offsets, group)))
        return operation

    def commit(self) -> Operation:
        return self._start("commit_transaction", self._commit)

    def _commit(self, operation: Operation) -> None:
        self.course.check()
        self._expect("commit_transaction", InTransaction)
        self.course.state = Committing()
        self.questions.add(End(operation, self._signature(), commits=True))

    def abort(self) -> Operation:
        return self._start("abort_transaction", self._abort)

    def _abort(self, operation: Operation) -> None:
        state = self.state
        if isinstance(state, Broken):
            self.course.check()
        self._expect("abort_transaction", InTransaction, Failed)
        remedy = state.remedy if isinstance(state, Failed) else Remedy.ABORT
        self.course.state = Aborting(remedy)
        self.course.enlisted.new.clear()
        if remedy is Remedy.NEW_ID:
            self.ask_for_id(operation)
        else:
            self.questions.add(End(operation, self._signature(), commits=False))

    def abort_unheard(self) -> Operation:
        """Abort on close, when no call will collect the outcome of the one before."""
        if self._pending is not None and self._pending.is_done:
            self._pending.is_heard = True
        return self.abort()

    def _start(self, name: str, start: Callable[[Operation], None]) -> Operation:
        pending = self._pending
        if pending is not None and pending.name == name and not pending.is_heard:
            return pending
        self._check_heard(name)
        operation = Operation(name)
        start(operation)
        self._pending = operation
        return operation

    def _check(self, name: str, *expected: type) -> None:
        self._check_heard(name)
        self.course.check()
        self._expect(name, *expected)

    def _check_heard(self, name: str) -> None:
        if isinstance(self.state, Broken):
            self.course.check()
        pending = self._pending
        if pending is not None and not pending.is_heard:
            raise TransactionStateError(
                f"{name}() after {pending.name}() has timed out: call that again first"
            )

    def _expect(self, name: str, *expected: type) -> None:
        if not isinstance(self.state, expected):
            stands = _STANDS.get(type(self.state), "")
            raise TransactionStateError(f"{name}() of {self.transactional_id}: {stands}")

    # Requests

    def ask_for_id(self, operation: Operation) -> None:
        """Request a new id, or the next epoch of the current one."""
        question = InitProducerId(
            operation, self.transactional_id, self._timeout_ms, self.course.identity
        )
        self.questions.add(question)

    def ask_to_add(self) -> None:
        """Add all partitions that the coordinator does not know of yet."""
        enlisted = self.course.enlisted
        if enlisted.new:
            is_first = not enlisted.added
            places = enlisted.take_new()
            self.questions.add(AddPartitions(self._signature(), places, is_first=is_first))

    def _signature(self) -> Signature:
        if self.course.identity is None:
            raise RuntimeError(f"{self.transactional_id} has no producer id yet")
        return Signature(self.transactional_id, self.course.identity)

    # Giving up

    def give_up(self, error: ClientError) -> None:
        """Drop all waiting requests, and fail their operations."""
        for question in list(self.questions):
            self.questions.remove(question)
            question.operation.fail(error)
        if self._pending is not None:
            self._pending.fail(error)

    def close(self) -> None:
        """By force: leave an open transaction to the coordinator, or to the id's next producer."""
        self.give_up(ProducerClosedError("the producer is closed, the transaction is left open"))
