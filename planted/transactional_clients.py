"""Bugs of producers with transactions, planted into the client's own core."""

from __future__ import annotations

from logquake.client.consumer.offsets import ConsumerGroupMetadata
from logquake.client.errors import ClientError
from logquake.client.network.link import Answer
from logquake.client.producer.transactions import ending
from logquake.client.producer.transactions.course import Course
from logquake.client.producer.transactions.ending import End
from logquake.client.producer.transactions.numbering import TransactionalNumbering
from logquake.client.producer.transactions.offsets import Offsets
from logquake.client.producer.transactions.operation import Operation
from logquake.client.producer.transactions.producer_states import Remedy
from logquake.client.producer.transactions.question import Question
from logquake.client.producer.transactions.requests import TransactionRequests
from logquake.client.producer.transactions.transactions import Transactions
from logquake.client.producer.transactions.verdicts import (
    FENCED,
    Abortable,
    Again,
    Ended,
    Fatal,
    Verdict,
    on_refusal,
)
from logquake.planted.bug import Replace
from logquake.wire.errors import ErrorCode


def end_before_the_records_are_written(replace: Replace) -> None:
    """A commit does not wait for what was sent: it comes after the end, or never."""
    replace(TransactionRequests, "_next_question", lambda self: self._questions.first)


def keep_what_is_aborted(replace: Replace) -> None:
    """What an abort leaves unsent is sent with the next transaction."""
    end_before_the_records_are_written(replace)
    replace(TransactionRequests, "_abort_unsent", lambda _self, _error: None)


def take_a_failure_for_the_end(replace: Replace) -> None:
    """A producer is of no use any more after what an abort would mend."""

    def fail(self: Course, error: ClientError, _remedy: Remedy = Remedy.ABORT) -> None:
        self.break_down(error)

    replace(Course, "fail", fail)


def go_on_when_fenced(replace: Replace) -> None:
    """Who was replaced aborts, and begins the next transaction."""

    def lenient(code: ErrorCode, context: str) -> Again | Abortable | Fatal:
        verdict = on_refusal(code, context)
        if code in FENCED and isinstance(verdict, Fatal):
            return Abortable(verdict.error)
        return verdict

    replace(ending, "on_refusal", lenient)


def keep_the_epoch_after_a_failure(replace: Replace) -> None:
    """The sequences of what may be written go to other records."""
    replace(TransactionalNumbering, "_remedy", lambda _self, _code: Remedy.ABORT)
    replace(TransactionalNumbering, "mend", _close_gaps)


def _close_gaps(self: TransactionalNumbering) -> None:
    sequences = self.course.sequences
    for place in sequences.take_gaps():
        sequences.forget_partition(place)


def take_a_lost_end_for_done(replace: Replace) -> None:
    """Nobody knows whether the coordinator has heard of it."""
    judged = TransactionRequests._judged

    def believe(self: TransactionRequests, question: Question, answer: Answer) -> Verdict:
        if isinstance(question, End) and isinstance(answer, ClientError):
            return Ended()
        return judged(self, question, answer)

    replace(TransactionRequests, "_judged", believe)


def leave_offsets_out(replace: Replace) -> None:
    """What was consumed is not part of the transaction: it is consumed again."""

    def forget(
        self: Transactions,
        _offsets: Offsets,
        _group: ConsumerGroupMetadata,
    ) -> Operation:
        self.check_may_send()
        operation = Operation("send_offsets_to_transaction")
        operation.succeed()
        return operation

    replace(Transactions, "send_offsets", forget)
