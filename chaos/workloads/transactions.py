"""A transactional producer that tells what became of each transaction, and one that writes many."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import count
from random import Random
from threading import Event
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from confluent_kafka import KafkaException, Producer

from logquake.chaos.history.numbers import numbers, to_value
from logquake.chaos.history.rows import Kind
from logquake.chaos.workloads.clients import TRANSACTIONAL, persist
from logquake.chaos.workloads.life import Life
from logquake.chaos.workloads.pacing import Pace
from logquake.chaos.workloads.sending import Record, RecordSender, Sender, SentRows

TIMEOUT_S = 60.0


class ProducerOver(Exception):  # noqa: N818 - the name says what happened
    """It was fenced, say, and is not to be replaced; the message is the error's name."""


class TransactionSender(RecordSender, Protocol):
    """Each tries again for as long as that may help."""

    def begin_transaction(self) -> None: ...
    def commit_transaction(self) -> None: ...
    def abort_transaction(self) -> None: ...

    def release(self) -> None:
        """It is done for; what has no outcome yet is given none."""


S = TypeVar("S", bound=TransactionSender)


class TransactionRows:
    """What is asked of a transaction, and what became of it."""

    def __init__(self, life: Life) -> None:
        self._history = life.history
        self._id = life.transactional_id
        self._begun = 0
        self._is_commit_asked = False

    def begun(self) -> int:
        """The sequence that its records, and its commits of offsets, are to name."""
        self._is_commit_asked = False
        self._begun = self._history.record(Kind.TRANSACTION_BEGUN, self._id)
        return self._begun

    def ending(self, how: str) -> None:
        self._is_commit_asked |= how == "commit"
        self._tell(Kind.TRANSACTION_ENDING, after=how)

    def ended(self, fate: str) -> None:
        self._tell(Kind.TRANSACTION_ENDED, after=fate)

    def taken_over(self, why: str) -> None:
        """By the next producer. What nobody asked to commit is aborted by that."""
        fate = "unknown" if self._is_commit_asked else "aborted"
        self._tell(Kind.TRANSACTION_ENDED, after=fate, why=why)

    def _tell(self, what: Kind, **fields: str | None) -> None:
        self._history.record(what, self._id, caused_by=self._begun, **fields)


class TransactionLife(ABC, Generic[S]):
    """One transaction after the other under one transactional id: after a fatal error the next
    producer takes over.

    All but end_after() raise ``failures`` for what the transaction does not survive.
    """

    failures: ClassVar[tuple[type[Exception], ...]]

    def __init__(self, life: Life, topic: str) -> None:
        self.life = life
        self.topic = topic
        self._rows = TransactionRows(life)
        self.sender = self.take()

    def begin(self) -> int:
        """The sequence that its records, and its commits of offsets, are to name."""
        begun = self._rows.begun()
        self.sender.begin_transaction()
        return begun

    def commit(self) -> None:
        self._rows.ending("commit")
        self.sender.commit_transaction()
        self._rows.ended("committed")

    def abort(self) -> None:
        self._rows.ending("abort")
        self.sender.abort_transaction()
        self._rows.ended("aborted")

    def end_after(self, error: Exception) -> None:
        """Abort if that is possible, else leave it to the next producer's beginning.

        A transaction whose commit was never asked for is aborted either way. Raises ProducerOver,
        which names what the abort failed by: a leader only tells of an old epoch, the coordinator
        that the producer is fenced.
        """
        if self.requires_abort(error):
            try:
                self.abort()
                return
            except self.failures as failure:
                error = failure
        self.sender.release()
        why = self.name_of(error)
        if not self.life.plan.take_over:
            raise ProducerOver(why)
        self.sender = self.take()
        self._rows.taken_over(why)

    @abstractmethod
    def take(self) -> S:
        """A producer that has taken the id."""

    @abstractmethod
    def requires_abort(self, error: Exception) -> bool:
        """And an abort is possible."""

    @abstractmethod
    def name_of(self, error: Exception) -> str: ...


class TransactionalSender(Sender):
    """Over librdkafka."""

    def begin_transaction(self) -> None:
        self.producer.begin_transaction()

    def commit_transaction(self) -> None:
        persist(lambda: self.producer.commit_transaction(TIMEOUT_S))

    def abort_transaction(self) -> None:
        persist(lambda: self.producer.abort_transaction(TIMEOUT_S))

    def release(self) -> None:
        self.finish(0)


class Transactions(TransactionLife[TransactionalSender]):
    """Over librdkafka."""

    failures = (KafkaException,)

    def take(self) -> TransactionalSender:
        settings = self.life.settings(TRANSACTIONAL)
        producer = Producer({**settings, "transactional.id": self.life.transactional_id})
        persist(lambda: producer.init_transactions(TIMEOUT_S))
        return TransactionalSender(producer, self.topic, SentRows(self.life.history, self.topic))

    def requires_abort(self, error: Exception) -> bool:
        return bool(error.args[0].txn_requires_abort())

    def name_of(self, error: Exception) -> str:
        return str(error.args[0].name())


class Transactor:
    """Writes records of its own, over all partitions, and aborts a share of its transactions; by
    default over librdkafka.
    """

    def __init__(
        self, life: Life, take_id: Callable[[Life, str], TransactionLife[Any]] | None = None
    ) -> None:
        self._life = life
        self._take_id: Callable[[Life, str], TransactionLife[Any]] = take_id or Transactions
        self._plan = life.plan
        self._random: Random = life.random
        self._numbers = numbers(life.plan.ordinal)

    def run(self, stopping: Event) -> None:
        plan = self._plan
        transactions = self._take_id(self._life, plan.topic)
        partitions = transactions.sender.partitions()
        pace = Pace(plan.rate, stopping.wait)
        for number in count(1):
            if plan.count and number > plan.count:
                return
            pieces = self._random.randint(1, plan.pieces)
            if not all(pace.comes_before(stopping) for _ in range(pieces)):
                return
            try:
                self._carry_out(transactions, partitions, pieces)
            except transactions.failures as error:
                transactions.end_after(error)

    def _carry_out(
        self, transactions: TransactionLife[Any], partitions: range, pieces: int
    ) -> None:
        is_aborted = self._random.random() < self._plan.aborted
        begun = transactions.begin()
        for _ in range(pieces):
            number = next(self._numbers)
            key = b"key-%d" % self._random.randrange(self._plan.keys)
            place = self._random.choice(partitions)
            value = to_value(number, self._plan.size)
            transactions.sender.send(Record(number, key, value, place, transaction=begun))
        if is_aborted:
            transactions.sender.finish(TIMEOUT_S)
            transactions.abort()
        else:
            transactions.commit()
