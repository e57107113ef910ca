"""A transactional producer that tells what became of each transaction, and one that writes many."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from random import Random
from threading import Event

from confluent_kafka import KafkaException, Producer

from logquake.chaos.history.numbers import numbers, to_value
from logquake.chaos.history.rows import Kind
from logquake.chaos.workloads.clients import TRANSACTIONAL, partitions_of, persist
from logquake.chaos.workloads.life import Life
from logquake.chaos.workloads.pacing import Pace
from logquake.chaos.workloads.sending import Record, Sender, SentRows

TIMEOUT_S = 60.0


class ProducerOver(Exception):  # noqa: N818 - the name says what happened
    """It was fenced, say, and is not to be replaced; the message is the error's name."""


class Transactions:
    """One after the other under one transactional id: after a fatal error the next takes over.

    Raises KafkaException for what the transaction does not survive: end_after() then.
    """

    def __init__(self, life: Life, topic: str) -> None:
        self._life = life
        self._history = life.history
        self._topic = topic
        self._begun = 0
        self._is_commit_asked = False
        self.sender = self._begin()

    def begin(self) -> int:
        """The sequence that its records, and its commits of offsets, are to name."""
        self._is_commit_asked = False
        self._begun = self._history.record(Kind.TRANSACTION_BEGUN, self._life.transactional_id)
        self.sender.producer.begin_transaction()
        return self._begun

    def commit(self) -> None:
        self._is_commit_asked = True
        self._ending("commit")
        persist(lambda: self.sender.producer.commit_transaction(TIMEOUT_S))
        self._ended("committed")

    def abort(self) -> None:
        self._ending("abort")
        persist(lambda: self.sender.producer.abort_transaction(TIMEOUT_S))
        self._ended("aborted")

    def end_after(self, error: KafkaException) -> None:
        """Abort if that is possible, else leave it to the next producer's beginning.

        A transaction whose commit was never asked for is aborted either way. Raises ProducerOver.
        """
        why = error.args[0].name()
        if error.args[0].txn_requires_abort():
            with suppress(KafkaException):
                self.abort()
                return
        self.sender.finish(0)
        if not self._life.plan.take_over:
            raise ProducerOver(why)
        self.sender = self._begin()
        self._ended("unknown" if self._is_commit_asked else "aborted", why)

    def _ending(self, how: str) -> None:
        self._tell(Kind.TRANSACTION_ENDING, after=how)

    def _ended(self, fate: str, why: str | None = None) -> None:
        self._tell(Kind.TRANSACTION_ENDED, after=fate, why=why)

    def _tell(self, what: Kind, **fields: str | None) -> None:
        self._history.record(what, self._life.transactional_id, caused_by=self._begun, **fields)

    def _begin(self) -> Sender:
        settings = self._life.settings(TRANSACTIONAL)
        producer = Producer({**settings, "transactional.id": self._life.transactional_id})
        persist(lambda: producer.init_transactions(TIMEOUT_S))
        return Sender(producer, self._topic, SentRows(self._history, self._topic))


class Transactor:
    """Writes records of its own, over all partitions, and aborts a share of its transactions."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._plan = life.plan
        self._random: Random = life.random
        self._numbers = numbers(life.plan.ordinal)

    def run(self, stopping: Event) -> None:
        plan = self._plan
        transactions = Transactions(self._life, plan.topic)
        partitions = partitions_of(transactions.sender.producer, plan.topic)
        pace = Pace(plan.rate, stopping.wait)
        for number in count(1):
            if plan.count and number > plan.count:
                return
            pieces = self._random.randint(1, plan.pieces)
            if not all(pace.comes_before(stopping) for _ in range(pieces)):
                return
            try:
                self._carry_out(transactions, partitions, pieces)
            except KafkaException as error:
                transactions.end_after(error)

    def _carry_out(self, transactions: Transactions, partitions: range, pieces: int) -> None:
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
