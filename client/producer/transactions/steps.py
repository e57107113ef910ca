"""The program's calls, each until its response (KafkaProducer's transactional methods)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from logquake.client.arguments import check_group, check_offsets
from logquake.client.clock import Clock
from logquake.client.consumer.offsets import ConsumerGroupMetadata
from logquake.client.driving.steps import Steps, Wait
from logquake.client.errors import (
    ClientError,
    ProducerClosedError,
    TimedOutError,
    TransactionError,
    TransactionStateError,
)
from logquake.client.producer.transactions.offsets import Offsets
from logquake.client.producer.transactions.operation import Operation
from logquake.client.producer.transactions.transactions import Transactions
from logquake.wire.sentinels import UNKNOWN_MEMBER_ID
from logquake.wire.topic_partition import TopicPartition

_NS_IN_MS = 1_000_000


class TransactionSteps:
    """Each raises TimedOutError after max.block.ms, and may then be repeated; what `Transactions`
    raises; and ProducerClosedError while another thread, or task, is in close().
    """

    def __init__(
        self,
        transactions: Transactions,
        clock: Clock,
        max_block_ms: int,
        trouble: Callable[[], str],
    ) -> None:
        """``trouble`` is that of `NetworkClient`."""
        self._transactions = transactions
        self._clock = clock
        self._max_block_ms = max_block_ms
        self._trouble = trouble
        self._waited_ns: Counter[str] = Counter()
        self._is_closing = False

    @property
    def _of_program(self) -> Transactions:
        """For a call of the program. Raises ProducerClosedError once close() has begun, since that
        then ends an open transaction.
        """
        if self._is_closing:
            raise ProducerClosedError("the producer is being closed")
        return self._transactions

    def init(self) -> Steps[None]:
        yield from self._wait(self._of_program.init(), "txn-init-time-ns-total")

    def begin(self) -> Steps[None]:
        self._of_program.begin()
        yield from ()

    def send_offsets(self, offsets: Offsets, group: ConsumerGroupMetadata) -> Steps[None]:
        check_offsets(offsets)
        check_group(group)
        if group.generation_id > 0 and group.member_id == UNKNOWN_MEMBER_ID:
            raise TransactionStateError(f"{group} has a generation, and no member of it")
        if offsets:
            operation = self._of_program.send_offsets(offsets, group)
            yield from self._wait(operation, "txn-send-offsets-time-ns-total")

    def commit(self) -> Steps[None]:
        yield from self._wait(self._of_program.commit(), "txn-commit-time-ns-total")

    def abort(self) -> Steps[None]:
        yield from self._wait(self._of_program.abort(), "txn-abort-time-ns-total")

    # While records are sent, and on close

    def check_may_send(self) -> None:
        """Raises TransactionError, and ProducerClosedError."""
        self._of_program.check_may_send()

    def appended(self, place: TopicPartition) -> None:
        """The record's batch waits until its partition is part of the transaction."""
        self._transactions.add(place)

    def refused(self, error: ClientError) -> None:
        """A record of the program was refused: the transaction cannot be committed."""
        self._transactions.record_failed(error)

    def begin_close(self) -> None:
        """Calls of the program that are waiting already continue."""
        self._is_closing = True

    def end_what_is_open(self, deadline_ms: int) -> Steps[None]:
        """For close(), once nothing is in flight: abort a transaction that is not committed, in at
        most max.block.ms. A commit that is under way may still fail.
        """
        transactions = self._transactions
        deadline_ms = min(deadline_ms, self._clock.now_ms() + self._max_block_ms)
        yield Wait(lambda: not transactions.is_ending, deadline_ms)
        if transactions.is_ongoing and not transactions.is_completing:
            with suppress(TransactionError):  # another thread's call is not over
                transactions.abort_unheard()
        yield Wait(lambda: not transactions.is_completing, deadline_ms)

    def close(self) -> None:
        """Leave an open transaction to the coordinator, or to the id's next producer."""
        self._transactions.close()

    def metrics(self) -> dict[str, float]:
        """How long the program has waited for its successful calls (KIP-761)."""
        return dict(self._waited_ns)

    def _wait(self, operation: Operation, metric: str) -> Steps[None]:
        began_ms = self._clock.now_ms()
        deadline_ms = began_ms + self._max_block_ms
        if not (yield Wait(lambda: operation.is_done, deadline_ms)):
            raise TimedOutError(
                f"{operation.name}() took more than max.block.ms, {self._max_block_ms} ms, and may "
                f"yet be done: call it again, or close the producer{self._trouble()}"
            )
        operation.is_heard = True
        if operation.error is not None:
            raise operation.error
        self._waited_ns[metric] += (self._clock.now_ms() - began_ms) * _NS_IN_MS
