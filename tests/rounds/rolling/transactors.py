"""Producers that go from transaction to transaction and write down what became of each."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from random import Random

from confluent_kafka import KafkaException, Producer

from logquake.chaos.transactions import Fate, Ledger, Piece, Transaction, TransactionName

TIMEOUT_S = 60.0
MOST_PIECES = 6
ABORTED_SHARE = 0.2
SETTINGS: dict[str, str | int] = {
    "transaction.timeout.ms": 30_000,
    "socket.timeout.ms": 4_000,
    "retry.backoff.ms": 50,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 200,
    "topic.metadata.refresh.fast.interval.ms": 50,
    # Who sends offsets while the group's coordinator moves waits for the next change of any
    # connection, without a time-out (librdkafka's issues 5456 and 5511): idle ones end, then.
    "connections.max.idle.ms": 2_000,
    "log_level": 2,  # lost connections are what this is for
}


def persist(action: Callable[[], None]) -> None:
    """What librdkafka calls retriable is called again. Raises its other errors."""
    while True:
        try:
            action()
        except KafkaException as error:
            if not error.args[0].retriable():
                raise
        else:
            return


class TransactionalProducer:
    """One after the other under one transactional id: after a fatal error the next takes over."""

    def __init__(self, servers: str, transactional_id: str) -> None:
        self._settings = {
            **SETTINGS,
            "bootstrap.servers": servers,
            "transactional.id": transactional_id,
        }
        self.producer = self._begin()
        self.replaced = 0

    def replace(self) -> None:
        self.producer = self._begin()
        self.replaced += 1

    def commit(self) -> None:
        persist(lambda: self.producer.commit_transaction(TIMEOUT_S))

    def abort(self) -> None:
        persist(lambda: self.producer.abort_transaction(TIMEOUT_S))

    def end_after(self, error: KafkaException, transaction: Transaction | None) -> None:
        """Abort if that is possible, else leave it to the next producer's beginning.

        A transaction whose commit was never asked for is aborted either way.
        """
        if error.args[0].txn_requires_abort():
            with suppress(KafkaException):
                self.abort()
                if transaction is not None:
                    transaction.fate = Fate.ABORTED
                return
        self.replace()

    def _begin(self) -> Producer:
        producer = Producer(self._settings)
        persist(lambda: producer.init_transactions(TIMEOUT_S))
        return producer


class Transactor:
    """Writes records of its own, over all partitions, and aborts a share of its transactions."""

    def __init__(
        self, servers: str, name: str, ledger: Ledger, topic: str, partitions: int, pause_s: float
    ) -> None:
        self._servers = servers
        self._name = name
        self._ledger = ledger
        self._topic = topic
        self._partitions = partitions
        self._pause_s = pause_s
        self._random = Random(name)

    def run(self, stopping: threading.Event) -> None:
        transactional = TransactionalProducer(self._servers, self._name)
        number = 0
        while not stopping.wait(self._pause_s):
            name = TransactionName(self._name, number)
            transaction = self._ledger.begin(name, self._random.randint(1, MOST_PIECES))
            try:
                self._carry_out(transactional, name, transaction)
            except KafkaException as error:
                transactional.end_after(error, transaction)
            number += 1

    def _carry_out(
        self, transactional: TransactionalProducer, name: TransactionName, transaction: Transaction
    ) -> None:
        producer = transactional.producer
        producer.begin_transaction()
        for number in range(transaction.pieces):
            partition = self._random.randrange(self._partitions)
            producer.produce(self._topic, Piece(name, number).to_value(), partition=partition)
        if self._random.random() < ABORTED_SHARE:
            transaction.fate = Fate.ABORTED  # whatever happens: its commit is never asked for
            producer.flush(TIMEOUT_S)
            transactional.abort()
        else:
            transactional.commit()
            transaction.fate = Fate.COMMITTED
