"""Clients that read a whole topic: partitions of their own choice, from the beginning."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Protocol

from benchmarks.errors import BenchmarkError
from benchmarks.libraries.load import Library, Load

_POLL_MS = 1_000
_A_POLL = 500  # records, as max.poll.records is by default


class Reader(Protocol):
    def begin(self) -> None:
        """It is connected; from here on it counts."""

    def take(self) -> int:
        """How many records a poll gave, each of which was looked at."""

    def close(self) -> None: ...


class Ours:
    def __init__(self, load: Load) -> None:
        from logquake.client import Consumer
        from logquake.wire.topic_partition import TopicPartition

        self._consumer = Consumer(bootstrap_servers=load.bootstrap, auto_offset_reset="earliest")
        found = self._consumer.partitions_for(load.topic)
        self._places = [TopicPartition(load.topic, each.partition) for each in found]
        self.close = self._consumer.close

    def begin(self) -> None:
        self._consumer.assign(self._places)

    def take(self) -> int:
        return sum(1 for record in self._consumer.poll(_POLL_MS) if record.value)


class KafkaPython:
    def __init__(self, load: Load) -> None:
        from kafka import KafkaConsumer, TopicPartition

        self._consumer = KafkaConsumer(
            bootstrap_servers=load.bootstrap, auto_offset_reset="earliest", enable_auto_commit=False
        )
        found = self._consumer.partitions_for_topic(load.topic) or ()
        self._places = [TopicPartition(load.topic, each) for each in found]
        self.close = self._consumer.close

    def begin(self) -> None:
        self._consumer.assign(self._places)

    def take(self) -> int:
        found = self._consumer.poll(_POLL_MS)
        return sum(1 for records in found.values() for record in records if record.value)


class Confluent:
    def __init__(self, load: Load) -> None:
        from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

        self._consumer = Consumer(
            {
                "bootstrap.servers": load.bootstrap,
                "group.id": load.topic,
                "enable.auto.commit": False,
            }
        )
        found = self._consumer.list_topics(load.topic).topics[load.topic].partitions
        self._places = [TopicPartition(load.topic, each, OFFSET_BEGINNING) for each in found]
        self.close = self._consumer.close

    def begin(self) -> None:
        self._consumer.assign(self._places)

    def take(self) -> int:
        found = self._consumer.consume(_A_POLL, _POLL_MS / 1000)
        return sum(1 for record in found if record.value())


READERS: Mapping[Library, Callable[[Load], Reader]] = {
    Library.OURS: Ours,
    Library.KAFKA_PYTHON: KafkaPython,
    Library.CONFLUENT: Confluent,
}


class AsyncReader(Protocol):
    """The same, awaited; it is made on the loop."""

    async def begin(self) -> None: ...

    async def take(self) -> int: ...

    async def close(self) -> None: ...


class OursAio:
    def __init__(self, load: Load) -> None:
        from logquake.client.aio import Consumer

        self._topic = load.topic
        self._consumer = Consumer(bootstrap_servers=load.bootstrap, auto_offset_reset="earliest")
        self.close = self._consumer.close

    async def begin(self) -> None:
        from logquake.wire.topic_partition import TopicPartition

        found = await self._consumer.partitions_for(self._topic)
        await self._consumer.assign([TopicPartition(self._topic, each.partition) for each in found])

    async def take(self) -> int:
        return sum(1 for record in await self._consumer.poll(_POLL_MS) if record.value)


class Aiokafka:
    def __init__(self, load: Load) -> None:
        from aiokafka import AIOKafkaConsumer

        self._topic = load.topic
        self._consumer = AIOKafkaConsumer(
            bootstrap_servers=load.bootstrap, auto_offset_reset="earliest", enable_auto_commit=False
        )
        self.close = self._consumer.stop

    async def begin(self) -> None:
        from aiokafka import TopicPartition

        await self._consumer.start()
        metadata = await self._consumer._client.fetch_all_metadata()
        found = metadata.partitions_for_topic(self._topic) or ()
        self._consumer.assign([TopicPartition(self._topic, each) for each in found])

    async def take(self) -> int:
        found = await self._consumer.getmany(timeout_ms=_POLL_MS, max_records=_A_POLL)
        return sum(1 for records in found.values() for record in records if record.value)


ASYNC_READERS: Mapping[Library, Callable[[Load], AsyncReader]] = {
    Library.OURS_AIO: OursAio,
    Library.AIOKAFKA: Aiokafka,
}


def read_all(reader: Reader, load: Load) -> int:
    """How many records, as many as there is time for; raises BenchmarkError for none."""
    deadline = time.perf_counter() + load.max_seconds
    taken = 0
    while taken < load.records and time.perf_counter() < deadline:
        taken += reader.take()
    return _some(taken, load)


async def read_all_on_loop(reader: AsyncReader, load: Load) -> int:
    """As `read_all`."""
    deadline = time.perf_counter() + load.max_seconds
    taken = 0
    while taken < load.records and time.perf_counter() < deadline:
        taken += await reader.take()
    return _some(taken, load)


def _some(taken: int, load: Load) -> int:
    if not taken:
        raise BenchmarkError(f"no record of {load.topic} in {load.max_seconds} s")
    return taken
