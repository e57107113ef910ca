"""confluent-kafka: librdkafka, the C client."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from types import MappingProxyType
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    TIMESTAMP_CREATE_TIME,
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic

from tests.compat.adapters.base import (
    EARLIEST,
    LATEST,
    Adapter,
    ClientError,
    Message,
    Writing,
)
from tests.waiting import PATIENCE_S, wait_for

TRY_S = 30
# librdkafka tells of a partition's end once a Fetch from there is answered, which waits for records
# half a second by default.
TOLD_OF_ENDS: Mapping[str, bool | int] = MappingProxyType(
    {"enable.partition.eof": True, "fetch.wait.max.ms": 10}
)
LONG_MS = 600_000  # longer than starved tools take


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


class Librdkafka(Adapter):
    def __init__(self, servers: str) -> None:
        super().__init__(servers)
        self._log = _Lines()
        self._logger = logging.Logger("librdkafka")
        self._logger.addHandler(self._log)

    def complaints(self) -> list[str]:
        """All lines: a healthy cluster gives librdkafka nothing to say."""
        return self._log.lines

    def write(
        self, topic: str, partition: int, messages: Sequence[Message], how: Writing
    ) -> list[int]:
        settings = {
            "acks": how.acks,
            "compression.type": how.codec,
            "enable.idempotence": how.idempotent,
            "message.max.bytes": how.max_request_bytes,
            "linger.ms": 10,
        }
        producer = Producer(self._settings(**settings), logger=self._logger)
        results: list[int | ClientError] = []

        def delivered(error: Any, message: Any) -> None:
            offset = -1 if how.acks == "0" else message.offset()
            results.append(ClientError(error.code()) if error else offset)

        for message in messages:
            producer.produce(
                topic,
                partition=partition,
                key=message.key,
                value=message.value,
                headers=list(message.headers),
                timestamp=message.timestamp_ms,
                on_delivery=delivered,
            )
        assert producer.flush(PATIENCE_S) == 0
        return [_checked(result) for result in results]

    def read(self, topic: str, partition: int, count: int, *, offset: int = 0) -> list[Message]:
        with closing(self._consumer()) as consumer:
            consumer.assign([TopicPartition(topic, partition, offset)])
            return [_message(one) for one in consumer.consume(count, timeout=PATIENCE_S)]

    def offset(self, topic: str, partition: int, timestamp_ms: int) -> int:
        special = {EARLIEST: OFFSET_BEGINNING, LATEST: OFFSET_END}
        asked = TopicPartition(topic, partition, special.get(timestamp_ms, timestamp_ms))
        with closing(self._consumer()) as consumer:
            if timestamp_ms in special:
                low, high = consumer.get_watermark_offsets(asked, timeout=PATIENCE_S)
                return int(low if timestamp_ms == EARLIEST else high)
            (answer,) = consumer.offsets_for_times([asked], timeout=PATIENCE_S)
            return int(answer.offset)

    def create_topic(
        self, name: str, partitions: int, replicas: int, config: Mapping[str, str]
    ) -> None:
        new = NewTopic(name, partitions, replicas, config=dict(config))
        admin = self._admin()  # held until it is done: losing it cancels what it was asked
        _done(admin.create_topics([new])[name])

    def delete_topic(self, name: str) -> None:
        admin = self._admin()
        _done(admin.delete_topics([name])[name])

    def topics(self) -> dict[str, int]:
        listed = self._admin().list_topics(timeout=PATIENCE_S).topics
        return {name: len(topic.partitions) for name, topic in listed.items()}

    def _settings(self, **settings: Any) -> dict[str, Any]:
        return {"bootstrap.servers": self.servers, **settings}

    def _consumer(self) -> Consumer:
        settings = self._settings(**{"group.id": "none", "enable.auto.commit": False})
        return Consumer(settings, logger=self._logger)

    def _admin(self) -> AdminClient:
        return AdminClient(self._settings(), logger=self._logger)


def transactional_producer(
    servers: str, transactional_id: str, settings: Mapping[str, str | int | float | bool]
) -> Producer:
    """Once a coordinator takes it: one that has just started says for a moment that it is none.

    Nothing but its owner ends its transactions, unless ``settings`` have it otherwise.
    """
    where: dict[str, str | int | float | bool] = {
        "bootstrap.servers": servers,
        "transactional.id": transactional_id,
        "transaction.timeout.ms": LONG_MS,
    }

    def started() -> Producer:
        producer = Producer({**where, **settings})
        producer.init_transactions(TRY_S)
        return producer

    return wait_for(f"coordinator of {transactional_id}", started, unready=(KafkaException,))


def read_to_end(servers: str, topic: str, partition: int, isolation: str) -> list[bytes | None]:
    """All that a reader of that isolation is given by now."""
    settings = {
        **TOLD_OF_ENDS,
        "bootstrap.servers": servers,
        "group.id": "none",
        "isolation.level": isolation,
        "enable.auto.commit": False,
    }
    values: list[bytes | None] = []
    with closing(Consumer(settings)) as consumer:
        consumer.assign([TopicPartition(topic, partition, 0)])
        while True:
            message = consumer.poll(PATIENCE_S)
            assert message is not None, "neither a message nor the end"
            error = message.error()
            if error is not None:
                assert error.code() == KafkaError._PARTITION_EOF, error
                return values
            values.append(message.value())


def _checked(result: int | ClientError) -> int:
    if isinstance(result, ClientError):
        raise result
    return result


def _done(future: Future[None]) -> None:
    try:
        future.result(PATIENCE_S)
    except KafkaException as error:
        raise ClientError(error.args[0].code()) from error


def _message(record: Any) -> Message:
    kind, timestamp_ms = record.timestamp()
    assert kind == TIMESTAMP_CREATE_TIME
    return Message(record.value(), record.key(), tuple(record.headers() or ()), timestamp_ms)
