"""Transactions over our client."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from logquake.chaos.workloads.life import Life
from logquake.chaos.workloads.own.sending import OwnSender, name_of
from logquake.chaos.workloads.own.settings import TRANSACTIONAL, own_settings
from logquake.chaos.workloads.sending import SentRows
from logquake.chaos.workloads.transactions import TransactionLife, Transactor
from logquake.client import Producer
from logquake.client.consumer.offsets import ConsumerGroupMetadata
from logquake.client.errors import ClientError, TimedOutError, TransactionFailedError
from logquake.client.producer.transactions.offsets import Offsets


def own_transactor(life: Life) -> Transactor:
    return Transactor(life, OwnTransactions)


class OwnTransactionalSender(OwnSender):
    """Satisfies `TransactionSender`."""

    def begin_transaction(self) -> None:
        self.producer.begin_transaction()

    def commit_transaction(self) -> None:
        persist(self.producer.commit_transaction)

    def abort_transaction(self) -> None:
        persist(self.producer.abort_transaction)

    def send_offsets(self, offsets: Offsets, group: ConsumerGroupMetadata) -> None:
        persist(lambda: self.producer.send_offsets_to_transaction(offsets, group))

    def release(self) -> None:
        self.producer.close(0)


class OwnTransactions(TransactionLife[OwnTransactionalSender]):
    failures = (ClientError,)

    def take(self) -> OwnTransactionalSender:
        settings = own_settings(self.life, TRANSACTIONAL)
        producer = Producer({**settings, "transactional.id": self.life.transactional_id})
        persist(producer.init_transactions)
        log = SentRows(self.life.history, self.topic)
        return OwnTransactionalSender(producer, self.topic, log)

    def requires_abort(self, error: Exception) -> bool:
        return isinstance(error, TransactionFailedError)

    def name_of(self, error: Exception) -> str:
        return name_of(error)


def persist(action: Callable[[], None]) -> None:
    """What took longer than max.block.ms is called again, and goes on. Raises other errors."""
    while True:
        with suppress(TimedOutError):
            action()
            return
