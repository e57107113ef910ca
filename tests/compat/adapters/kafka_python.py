"""kafka-python, threads and sockets in Python."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from tests.compat.adapters.base import (
    EARLIEST,
    LATEST,
    Adapter,
    ClientError,
    Message,
    Writing,
)
from tests.waiting import PATIENCE_S

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it reads its schemas in the old way
    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
    from kafka.admin import NewTopic
    from kafka.errors import BrokerResponseError


class KafkaPython(Adapter):
    has_null_headers = False

    def write(
        self, topic: str, partition: int, messages: Sequence[Message], how: Writing
    ) -> list[int]:
        producer = KafkaProducer(
            bootstrap_servers=self.servers,
            acks=how.acks if how.acks == "all" else int(how.acks),
            compression_type=None if how.codec == "none" else how.codec,
            enable_idempotence=how.idempotent,
            max_request_size=how.max_request_bytes,
            linger_ms=10,
        )
        with closing(producer):
            futures = [
                producer.send(
                    topic,
                    partition=partition,
                    key=message.key,
                    value=message.value,
                    headers=list(message.headers),
                    timestamp_ms=message.timestamp_ms,
                )
                for message in messages
            ]
            return [_offset(future) for future in futures]

    def read(self, topic: str, partition: int, count: int, *, offset: int = 0) -> list[Message]:
        with closing(self._consumer()) as consumer:
            one = TopicPartition(topic, partition)
            consumer.assign([one])
            consumer.seek(one, offset)
            return [_message(next(consumer)) for _ in range(count)]

    def offset(self, topic: str, partition: int, timestamp_ms: int) -> int:
        one = TopicPartition(topic, partition)
        with closing(self._consumer()) as consumer:
            if timestamp_ms == EARLIEST:
                return int(consumer.beginning_offsets([one])[one])
            if timestamp_ms == LATEST:
                return int(consumer.end_offsets([one])[one])
            found = consumer.offsets_for_times({one: timestamp_ms})[one]
            return -1 if found is None else int(found.offset)

    def create_topic(
        self, name: str, partitions: int, replicas: int, config: Mapping[str, str]
    ) -> None:
        with closing(self._admin()) as admin:
            new = NewTopic(name, partitions, replicas, topic_configs=dict(config))
            _refusing(lambda: admin.create_topics([new]))

    def delete_topic(self, name: str) -> None:
        with closing(self._admin()) as admin:
            _refusing(lambda: admin.delete_topics([name]))

    def topics(self) -> dict[str, int]:
        with closing(self._admin()) as admin:
            return {topic["name"]: len(topic["partitions"]) for topic in admin.describe_topics()}

    def _consumer(self) -> KafkaConsumer:
        return KafkaConsumer(bootstrap_servers=self.servers, consumer_timeout_ms=PATIENCE_S * 1000)

    def _admin(self) -> KafkaAdminClient:
        return KafkaAdminClient(bootstrap_servers=self.servers)


def _offset(future: Any) -> int:
    found: list[int] = []
    _refusing(lambda: found.append(future.get(PATIENCE_S).offset))
    return found[0]


def _refusing(action: Any) -> None:
    try:
        action()
    except BrokerResponseError as error:
        raise ClientError(error.errno) from error


def _message(record: Any) -> Message:
    return Message(record.value, record.key, tuple(record.headers), record.timestamp)
