"""Sends requests to coordinators, one at a time, and handles their responses.

This is Sender.maybeSendAndPollTransactionalRequest. Unlike there, records are still sent
meanwhile, if their partitions are part of the transaction.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.client.errors import (
    ClientError,
    TransactionAbortedError,
    UnencodableError,
    UnsupportedVersionError,
)
from logquake.client.network.link import Answer, ClientRequest
from logquake.client.network.metadata import Metadata
from logquake.client.network.network_client import NetworkClient
from logquake.client.producer.accumulator import Accumulator
from logquake.client.producer.transactions.coordinators import FindCoordinator
from logquake.client.producer.transactions.ending import End
from logquake.client.producer.transactions.enlisted import AddPartitions, Begun
from logquake.client.producer.transactions.offsets import AddOffsets
from logquake.client.producer.transactions.producer_ids import FIRST_THAT_BUMPS
from logquake.client.producer.transactions.producer_states import (
    Aborting,
    Broken,
    Committing,
    Failed,
    Initializing,
    InTransaction,
)
from logquake.client.producer.transactions.question import (
    CoordinatorKey,
    Priority,
    Question,
)
from logquake.client.producer.transactions.transactions import Transactions
from logquake.client.producer.transactions.verdicts import (
    Abortable,
    Added,
    Again,
    Denied,
    Ended,
    Fatal,
    Found,
    GroupAdded,
    Named,
    OffsetsCommitted,
    Verdict,
)
from logquake.client.producer.transactions.whom import Whom
from logquake.wire.coordinator_type import CoordinatorType
from logquake.wire.messages.transactions import InitProducerIdRequest

_ABORTED = TransactionAbortedError("its transaction was aborted")


class TransactionRequests:
    """Replaces `IdRequests`."""

    def __init__(
        self,
        network: NetworkClient,
        metadata: Metadata,
        transactions: Transactions,
        accumulator: Accumulator,
        retry_backoff_ms: int,
        awaits_answers: Callable[[], bool],
    ) -> None:
        """``awaits_answers``: whether a Produce request is in flight."""
        self._network = network
        self._transactions = transactions
        self._course = transactions.course
        self._brokers = Whom(network, metadata, transactions.course)
        self._questions = transactions.questions
        self._accumulator = accumulator
        self._retry_backoff_ms = retry_backoff_ms
        self._awaits_answers = awaits_answers
        self._asked: Question | None = None  # is in flight
        self._answer: Answer | None = None

    # As a core

    def poll(self, now_ms: int) -> bool:
        """Send what is due. Returns whether the producer may send records."""
        self._transactions.mend()
        if self._asked is not None and self._answer is not None:
            self._take(self._asked, self._answer, now_ms)
        self._give_up_what_cannot_be()
        if self._asked is None:
            self._ask(now_ms)
            self._give_up_what_cannot_be()
        return not isinstance(self._course.state, Broken)

    def next_due_ms(self, now_ms: int) -> int | None:
        """When the back-off of the first request ends; the network knows when brokers are ready."""
        first = self._next_question()
        if self._asked is not None or first is None or first.not_before_ms <= now_ms:
            return None
        return first.not_before_ms

    # What is given up

    def _give_up_what_cannot_be(self) -> None:
        state = self._course.state
        match state:
            case Failed(error):
                # Coordinator lookups continue: the abort needs one.
                self._drop(Priority.ADDITION, Priority.END)
                self._abort_unsent(error)
            case Aborting():
                self._drop(Priority.ADDITION)
                self._abort_unsent(_ABORTED)
            case Broken(error):
                self._transactions.give_up(self._course.error() or error)
                self._accumulator.abort(error)
            case _:
                pass

    def _drop(self, *priorities: Priority) -> None:
        told = self._course.error() or _ABORTED
        for question in list(self._questions):
            if question.priority in priorities:
                self._questions.remove(question)
                question.operation.fail(told)

    def _abort_unsent(self, error: ClientError) -> None:
        """Only unsent batches: others may be written, and are waited for."""
        self._accumulator.abort(error, lambda batch: not batch.has_sequence)

    # Asking

    def _next_question(self) -> Question | None:
        first = self._questions.first
        if first is None or first.priority is not Priority.END:
            return first
        # Wait even for batches that were given up: written later, they would be in the next one.
        is_early = self._accumulator.has_incomplete or self._awaits_answers()
        return None if is_early else first

    def _ask(self, now_ms: int) -> None:
        if isinstance(self._course.state, InTransaction | Committing):
            self._transactions.ask_to_add()
        question = self._next_question()
        if isinstance(question, End):
            question = self._to_end(question)
        if question is None or question.not_before_ms > now_ms:
            return
        node_id = self._whom(question, now_ms)
        if node_id is not None:
            self._send(question, node_id, now_ms)

    def _to_end(self, question: End) -> Question | None:
        """A transaction that never began at the coordinator needs no request to end."""
        begun = self._course.enlisted.begun
        question.is_unsure = begun is Begun.PERHAPS
        if begun is not Begun.NO:
            return question
        self._questions.remove(question)
        self._end(question)
        return self._next_question()

    def _whom(self, question: Question, now_ms: int) -> int | None:
        """The broker to ask now; an unknown coordinator is looked up."""
        key = question.coordinator
        if key is None:
            return self._brokers.anybody(now_ms)
        if not self._brokers.is_known(key):
            self._look_for(key, now_ms)
            return None
        node_id = self._brokers.coordinator(key, now_ms)
        if not self._brokers.is_known(key):
            question.not_before_ms = now_ms + self._retry_backoff_ms
        return node_id

    def _look_for(self, key: CoordinatorKey, now_ms: int) -> None:
        find = FindCoordinator(key)
        self._questions.add(find)
        node_id = self._brokers.anybody(now_ms)
        if node_id is not None:
            self._send(find, node_id, now_ms)

    def _send(self, question: Question, node_id: int, now_ms: int) -> None:
        try:
            version = self._network.version_of(node_id, question.request, question.last_version)
            message = question.message(version)
        except UnsupportedVersionError as error:
            self._course.break_down(error)
            return
        self._look_at_coordinator(question, node_id)
        self._questions.remove(question)
        self._asked = question
        request = ClientRequest(message, version, question.response, self._on_answer)
        self._network.send(node_id, request, now_ms)

    def _look_at_coordinator(self, question: Question, node_id: int) -> None:
        if question.coordinator and question.coordinator.kind is CoordinatorType.TRANSACTION:
            known = self._network.version_of(node_id, InitProducerIdRequest)
            self._course.can_take_epochs = known >= FIRST_THAT_BUMPS

    def _on_answer(self, answer: Answer) -> None:
        """Keep the response for the next poll, which knows the time."""
        self._answer = answer

    # The response

    def _take(self, asked: Question, answer: Answer, now_ms: int) -> None:
        self._asked = self._answer = None
        state = self._course.state
        if isinstance(state, Broken):  # nothing can be repaired any more
            asked.operation.fail(self._course.error() or state.error)
        else:
            self._apply(asked, self._judged(asked, answer), now_ms)

    def _judged(self, question: Question, answer: Answer) -> Verdict:
        if isinstance(answer, UnsupportedVersionError | UnencodableError):
            return Fatal(answer)
        if isinstance(answer, question.response):
            return question.judge(answer)
        return Again(moved=question.coordinator is not None)

    def _apply(self, question: Question, verdict: Verdict, now_ms: int) -> None:
        match verdict:
            case Again():
                self._try_again(question, verdict, now_ms)
            case Abortable():
                self._fail(question, verdict)
            case Denied(error):
                self._deny(question, error)
            case Fatal(error):
                self._course.break_down(error)
                question.operation.fail(self._course.error() or error)
            case _:
                self._succeed(question, verdict)

    def _try_again(self, question: Question, verdict: Again, now_ms: int) -> None:
        if question.priority is Priority.ADDITION:
            # COORDINATOR_NOT_AVAILABLE may mean: in its log, but on too few replicas.
            self._course.enlisted.may_have_begun()
        wait_ms = self._retry_backoff_ms
        if verdict.at_most_ms is not None:
            wait_ms = min(wait_ms, verdict.at_most_ms)
        if verdict.moved:
            self._brokers.forget(question.coordinator)
        question.not_before_ms = now_ms + wait_ms
        self._questions.add_again(question)

    def _deny(self, question: Question, error: ClientError) -> None:
        self._course.denied()
        question.operation.fail(error)
        self._transactions.give_up(error)
        self._accumulator.abort(error)

    def _fail(self, question: Question, verdict: Abortable) -> None:
        if isinstance(self._course.state, Initializing):
            self._deny(question, verdict.error)  # there is nothing to abort
            return
        if isinstance(question, End):
            self._course.fail_to_end(verdict.error, verdict.remedy)
        else:
            self._course.fail(verdict.error, verdict.remedy)
        question.operation.fail(self._course.error() or verdict.error)

    def _succeed(self, question: Question, verdict: Verdict) -> None:
        match verdict:
            case Found(node_id) if isinstance(question, FindCoordinator):
                self._brokers.found(question.of, node_id)
            case Named(identity):
                self._course.named(identity)
            case Added(places) if isinstance(question, AddPartitions):
                self._course.enlisted.were_added(places)
            case GroupAdded() if isinstance(question, AddOffsets):
                self._course.enlisted.begun = Begun.YES
                self._questions.add(question.then)
                return
            case Ended():
                self._end(question)
                return
            case OffsetsCommitted() | _:
                pass
        question.operation.succeed()

    def _end(self, question: Question) -> None:
        """An abort that bumps the epoch is over once the next epoch is known."""
        if self._course.ended():
            self._transactions.ask_for_id(question.operation)
        else:
            question.operation.succeed()
