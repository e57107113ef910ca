"""Read a whole topic back through a real client: every partition, from its start to its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic, sleep
from types import MappingProxyType
from typing import TypeVar
from uuid import uuid4

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

_BATCH = 10_000
_RETRY_S = 0.1
_SHORTEST_WAIT_S = 0.1
# A partition's end is told once a Fetch from there is answered, which would wait for records.
_TO_THE_STABLE_END: Mapping[str, str | bool | int] = MappingProxyType(
    {"isolation_level": "read_committed", "enable_partition_eof": True, "fetch_wait_max_ms": 10}
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReadRecord:
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


class ReadbackTimeout(Exception):  # noqa: N818 - the name says what happened
    """The end was not reached in time; the message says how far it got."""


def read_committed(bootstrap_servers: str, topic: str, *, timeout_s: float) -> Iterator[ReadRecord]:
    """Every committed record up to the last stable offset of each partition in turn.

    Raises ReadbackTimeout when that takes more than timeout_s.
    """
    deadline = monotonic() + timeout_s
    with _consumer(bootstrap_servers, **_TO_THE_STABLE_END) as consumer:
        for partition in _partitions(consumer, topic, deadline):
            consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING)])
            yield from _to_the_end(consumer, f"{topic}-{partition}", deadline)


def _to_the_end(consumer: Consumer, name: str, deadline: float) -> Iterator[ReadRecord]:
    while True:
        if monotonic() > deadline:
            raise ReadbackTimeout(f"the end of {name} does not come")
        for message in consumer.consume(_BATCH, _SHORTEST_WAIT_S):
            error = message.error()
            if error is not None and error.code() == KafkaError._PARTITION_EOF:
                return
            record = _record(message)
            if record is not None:
                yield record


@contextmanager
def _consumer(bootstrap_servers: str, **settings: str | bool | int) -> Iterator[Consumer]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": f"logquake-readback-{uuid4()}",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "fetch.message.max.bytes": 1 << 20,
            "log_level": 2,
            **{key.replace("_", "."): value for key, value in settings.items()},
        }
    )
    try:
        yield consumer
    finally:
        consumer.close()


def _partitions(consumer: Consumer, topic: str, deadline: float) -> list[int]:
    metadata = _asked(
        lambda left_s: consumer.list_topics(topic, timeout=left_s), f"who leads {topic}", deadline
    )
    return sorted(metadata.topics[topic].partitions)


def _asked(ask: Callable[[float], T], what: str, deadline: float) -> T:
    """The answer. Leaders change after a fault, and librdkafka does not ask again by itself."""
    while True:
        try:
            return ask(max(_SHORTEST_WAIT_S, deadline - monotonic()))
        except KafkaException as error:
            if monotonic() > deadline:
                raise ReadbackTimeout(f"no answer to {what}: {error}") from error
            sleep(_RETRY_S)


def _record(message: Message) -> ReadRecord | None:
    """None for an error that the client gets over by itself. Others are raised by the client."""
    error = message.error()
    if error is not None:
        if error.code() == KafkaError._AUTO_OFFSET_RESET:
            raise ReadbackTimeout(f"an offset was gone: {error.str()}")
        return None
    partition, offset = message.partition(), message.offset()
    if partition is None or offset is None:
        raise ReadbackTimeout("the client returned a record without its place")
    return ReadRecord(partition, offset, message.key(), message.value())
