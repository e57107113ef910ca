"""aiokafka, on asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import BrokerResponseError, for_code

from tests.compat.adapters.base import (
    EARLIEST,
    LATEST,
    Adapter,
    ClientError,
    Message,
    Writing,
)
from tests.waiting import PATIENCE_S

T = TypeVar("T")


class AioKafka(Adapter):
    def write(
        self, topic: str, partition: int, messages: Sequence[Message], how: Writing
    ) -> list[int]:
        return _run(self._write(topic, partition, messages, how))

    async def _write(
        self, topic: str, partition: int, messages: Sequence[Message], how: Writing
    ) -> list[int]:
        async with AIOKafkaProducer(
            bootstrap_servers=self.servers,
            acks=how.acks if how.acks == "all" else int(how.acks),
            compression_type=None if how.codec == "none" else how.codec,
            enable_idempotence=how.idempotent,
            max_request_size=how.max_request_bytes,
            linger_ms=10,
        ) as producer:
            futures = [
                await producer.send(
                    topic,
                    partition=partition,
                    key=message.key,
                    value=message.value,
                    headers=list(message.headers),
                    timestamp_ms=message.timestamp_ms,
                )
                for message in messages
            ]
            sent = await asyncio.gather(*futures)
            return [-1 if one is None or how.acks == "0" else one.offset for one in sent]

    def read(self, topic: str, partition: int, count: int, *, offset: int = 0) -> list[Message]:
        return _run(self._read(TopicPartition(topic, partition), count, offset))

    async def _read(self, one: TopicPartition, count: int, offset: int) -> list[Message]:
        async with AIOKafkaConsumer(bootstrap_servers=self.servers) as consumer:
            consumer.assign([one])
            consumer.seek(one, offset)
            return [_message(await consumer.getone()) for _ in range(count)]

    def offset(self, topic: str, partition: int, timestamp_ms: int) -> int:
        return _run(self._offset(TopicPartition(topic, partition), timestamp_ms))

    async def _offset(self, one: TopicPartition, timestamp_ms: int) -> int:
        async with AIOKafkaConsumer(bootstrap_servers=self.servers) as consumer:
            if timestamp_ms == EARLIEST:
                return int((await consumer.beginning_offsets([one]))[one])
            if timestamp_ms == LATEST:
                return int((await consumer.end_offsets([one]))[one])
            found = (await consumer.offsets_for_times({one: timestamp_ms}))[one]
            return -1 if found is None else int(found.offset)

    def create_topic(
        self, name: str, partitions: int, replicas: int, config: Mapping[str, str]
    ) -> None:
        new = NewTopic(name, partitions, replicas, topic_configs=dict(config))

        async def create(admin: AIOKafkaAdminClient) -> None:
            response = await admin.create_topics([new])
            _check(response.topic_errors[0][1])

        _run(self._administer(create))

    def delete_topic(self, name: str) -> None:
        async def delete(admin: AIOKafkaAdminClient) -> None:
            response = await admin.delete_topics([name])
            _check(response.topic_error_codes[0][1])

        _run(self._administer(delete))

    def topics(self) -> dict[str, int]:
        async def describe(admin: AIOKafkaAdminClient) -> dict[str, int]:
            return {
                topic["topic"]: len(topic["partitions"]) for topic in await admin.describe_topics()
            }

        return _run(self._administer(describe))

    async def _administer(self, action: Any) -> Any:
        admin = AIOKafkaAdminClient(bootstrap_servers=self.servers)
        try:
            await admin.start()
            return await action(admin)
        finally:
            await admin.close()


def _check(code: int) -> None:
    if code:
        raise for_code(code)


def _run(action: Coroutine[Any, Any, T]) -> T:
    async def bounded() -> T:
        return await asyncio.wait_for(action, PATIENCE_S)

    try:
        return asyncio.run(bounded())
    except BrokerResponseError as error:
        raise ClientError(error.errno) from error


def _message(record: Any) -> Message:
    return Message(record.value, record.key, tuple(record.headers), record.timestamp)
