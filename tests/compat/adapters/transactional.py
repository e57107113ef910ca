"""Producers with a transactional id, of each client library, in one shape."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError as AioKafkaError
from aiokafka.errors import ProducerFenced
from confluent_kafka import KafkaException
from kafka import KafkaProducer
from kafka.errors import InvalidProducerEpochError, ProducerFencedError

from logquake.client import Producer
from logquake.client import errors as ourselves
from logquake.client.aio import Producer as AioProducer
from tests.compat.adapters.librdkafka import transactional_producer
from tests.waiting import PATIENCE_S


class TransactionalProducer(ABC):
    """Made, it has fenced whoever had the id before. ``refusals`` is what it raises once another
    has.
    """

    refusals: tuple[type[Exception], ...]

    @abstractmethod
    def __init__(self, servers: str, transactional_id: str, timeout_ms: int) -> None: ...

    @abstractmethod
    def begin(self) -> None: ...

    @abstractmethod
    def write(self, topic: str, partition: int, values: Sequence[bytes]) -> None:
        """The values are acked when it returns."""

    @abstractmethod
    def commit(self) -> None: ...

    @abstractmethod
    def abort(self) -> None: ...

    @abstractmethod
    def close(self) -> None:
        """Whatever state it is in."""


class LibrdkafkaTransactions(TransactionalProducer):
    refusals = (KafkaException,)

    def __init__(self, servers: str, transactional_id: str, timeout_ms: int) -> None:
        self._producer = transactional_producer(
            servers, transactional_id, {"transaction.timeout.ms": timeout_ms, "log_level": 0}
        )

    def begin(self) -> None:
        self._producer.begin_transaction()

    def write(self, topic: str, partition: int, values: Sequence[bytes]) -> None:
        for value in values:
            self._producer.produce(topic, value, partition=partition)
        assert self._producer.flush(PATIENCE_S) == 0

    def commit(self) -> None:
        self._producer.commit_transaction(PATIENCE_S)

    def abort(self) -> None:
        self._producer.abort_transaction(PATIENCE_S)

    def close(self) -> None:
        self._producer.purge()


class KafkaPythonTransactions(TransactionalProducer):
    refusals = (ProducerFencedError, InvalidProducerEpochError)

    def __init__(self, servers: str, transactional_id: str, timeout_ms: int) -> None:
        self._producer = KafkaProducer(
            bootstrap_servers=servers,
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
        )
        with _closed_on_failure(self):
            self._producer.init_transactions()

    def begin(self) -> None:
        self._producer.begin_transaction()

    def write(self, topic: str, partition: int, values: Sequence[bytes]) -> None:
        sent = [self._producer.send(topic, value, partition=partition) for value in values]
        for future in sent:
            future.get(PATIENCE_S)

    def commit(self) -> None:
        self._producer.commit_transaction()

    def abort(self) -> None:
        self._producer.abort_transaction()

    def close(self) -> None:
        try:
            self._producer.close(timeout=0)
        finally:  # it raises of what is not sent yet, and leaves its thread to go on
            self._producer._sender.force_close()


class AioKafkaTransactions(TransactionalProducer):
    refusals = (ProducerFenced, AioKafkaError)

    def __init__(self, servers: str, transactional_id: str, timeout_ms: int) -> None:
        self._loop = asyncio.new_event_loop()
        self._producer = self._loop.run_until_complete(_made(servers, transactional_id, timeout_ms))
        with _closed_on_failure(self):
            self._run(self._producer.start())

    def begin(self) -> None:
        self._run(self._producer.begin_transaction())

    def write(self, topic: str, partition: int, values: Sequence[bytes]) -> None:
        for value in values:
            self._run(self._producer.send_and_wait(topic, value, partition=partition))

    def commit(self) -> None:
        self._run(self._producer.commit_transaction())

    def abort(self) -> None:
        self._run(self._producer.abort_transaction())

    def close(self) -> None:
        try:
            self._run(self._producer.stop())
        finally:
            self._loop.close()

    def _run(self, action: Awaitable[object]) -> None:
        self._loop.run_until_complete(asyncio.wait_for(action, PATIENCE_S))


async def _made(servers: str, transactional_id: str, timeout_ms: int) -> AIOKafkaProducer:
    """Within the loop that it belongs to."""
    return AIOKafkaProducer(
        bootstrap_servers=servers,
        transactional_id=transactional_id,
        transaction_timeout_ms=timeout_ms,
    )


class OurTransactions(TransactionalProducer):
    refusals = (ourselves.ProducerFencedError,)

    def __init__(self, servers: str, transactional_id: str, timeout_ms: int) -> None:
        self._producer = Producer(_our_config(servers, transactional_id, timeout_ms))
        with _closed_on_failure(self):
            self._producer.init_transactions()

    def begin(self) -> None:
        self._producer.begin_transaction()

    def write(self, topic: str, partition: int, values: Sequence[bytes]) -> None:
        sent = [self._producer.send(topic, value, partition=partition) for value in values]
        for future in sent:
            future.result(PATIENCE_S)

    def commit(self) -> None:
        self._producer.commit_transaction()

    def abort(self) -> None:
        self._producer.abort_transaction()

    def close(self) -> None:
        self._producer.close(0)


class OurAioTransactions(TransactionalProducer):
    refusals = (ourselves.ProducerFencedError,)

    def __init__(self, servers: str, transactional_id: str, timeout_ms: int) -> None:
        self._runner = asyncio.Runner()
        config = _our_config(servers, transactional_id, timeout_ms)
        self._producer = self._runner.run(_our_own(config))
        with _closed_on_failure(self):
            self._runner.run(self._producer.init_transactions())

    def begin(self) -> None:
        self._runner.run(self._producer.begin_transaction())

    def write(self, topic: str, partition: int, values: Sequence[bytes]) -> None:
        self._runner.run(self._write(topic, partition, values))

    async def _write(self, topic: str, partition: int, values: Sequence[bytes]) -> None:
        for sent in [await self._producer.send(topic, v, partition=partition) for v in values]:
            await sent

    def commit(self) -> None:
        self._runner.run(self._producer.commit_transaction())

    def abort(self) -> None:
        self._runner.run(self._producer.abort_transaction())

    def close(self) -> None:
        try:
            self._runner.run(self._producer.close(0))
        finally:
            self._runner.close()


async def _our_own(config: Mapping[str, object]) -> AioProducer:
    return AioProducer(config)


def _our_config(servers: str, transactional_id: str, timeout_ms: int) -> dict[str, object]:
    return {
        "bootstrap.servers": servers,
        "transactional.id": transactional_id,
        "transaction.timeout.ms": timeout_ms,
        "max.block.ms": int(PATIENCE_S * 1000),
    }


@contextmanager
def _closed_on_failure(producer: TransactionalProducer) -> Iterator[None]:
    with ExitStack() as stack:
        stack.callback(producer.close)
        yield
        stack.pop_all()
