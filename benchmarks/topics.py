"""Topics for measuring: made before a run, counted after it, deleted in the end."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from benchmarks.errors import BenchmarkError

T = TypeVar("T")

TIMEOUT_S = 30
_ERRORS_ONLY = 3
_RETRY_S = 0.5
_NOT_YET = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.LEADER_NOT_AVAILABLE)

# Broker settings. A deleted topic's pages are dirty until its files go: with the default of a
# minute the machine would write one run's data to the disk while the next one is measured.
FREED_AFTER_S = 1.0
FREES_SOON = {"log.segment.delete.delay.ms": f"{FREED_AFTER_S * 1000:.0f}"}


@contextlib.contextmanager
def scratch_topic(bootstrap: str, partitions: int, replicas: int) -> Iterator[str]:
    """A new topic for the length of a block; its partitions have leaders."""
    with _scratch(bootstrap, NewTopic(_new_name(), partitions, replicas)) as name:
        yield name


@contextlib.contextmanager
def placed_topic(
    bootstrap: str, brokers: Sequence[int], config: Mapping[str, str]
) -> Iterator[str]:
    """The same with one partition on these brokers; the first one leads."""
    wanted = NewTopic(_new_name(), 1, replica_assignment=[list(brokers)], config=dict(config))
    with _scratch(bootstrap, wanted) as name:
        yield name


@contextlib.contextmanager
def _scratch(bootstrap: str, wanted: NewTopic) -> Iterator[str]:
    create(AdminClient({"bootstrap.servers": bootstrap, "log_level": _ERRORS_ONLY}), wanted)
    try:
        yield wanted.topic
    finally:
        delete(bootstrap, wanted.topic)


def _new_name() -> str:
    return f"benchmark-{os.urandom(4).hex()}"


def create(admin: AdminClient, wanted: NewTopic) -> None:
    """Raises BenchmarkError when the cluster refuses, or has no leaders in time."""
    name = wanted.topic
    try:
        admin.create_topics([wanted], request_timeout=TIMEOUT_S)[name].result(TIMEOUT_S)
        _await_leaders(admin, name)
    except KafkaException as error:
        raise BenchmarkError(f"topic {name}: {error.args[0]}") from error


def delete(bootstrap: str, name: str) -> None:
    """It is gone, or about to go."""

    def attempt() -> None:
        admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": _ERRORS_ONLY})
        try:
            admin.delete_topics([name], request_timeout=TIMEOUT_S)[name].result(TIMEOUT_S)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise

    _insist(attempt)


def message_count(bootstrap: str, topic: str, partitions: int) -> int:
    """Messages that consumers may see: the sum of the high watermarks of a topic from offset 0."""

    def attempt() -> int:
        consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "benchmark"})
        try:
            return sum(
                consumer.get_watermark_offsets(TopicPartition(topic, index), timeout=TIMEOUT_S)[1]
                for index in range(partitions)
            )
        finally:
            consumer.close()

    return _insist(attempt)


def _insist(attempt: Callable[[], T]) -> T:
    """Leaders and the controller may have moved since a client last heard: then a new one asks.

    Raises BenchmarkError when that does not help.
    """
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        try:
            return attempt()
        except KafkaException as error:
            if time.monotonic() > deadline:
                raise BenchmarkError(f"the cluster refuses: {error.args[0]}") from error
        time.sleep(_RETRY_S)


def _await_leaders(admin: AdminClient, name: str) -> None:
    """Brokers answer a metadata request at once, so the first answers may have no leaders yet."""
    for _ in range(TIMEOUT_S * 100):
        topic = admin.list_topics(name, timeout=TIMEOUT_S).topics[name]
        if topic.error is None and all(one.leader >= 0 for one in topic.partitions.values()):
            return
        if topic.error and topic.error.code() not in _NOT_YET:
            raise KafkaException(topic.error)
    raise BenchmarkError(f"topic {name} has no leaders after {TIMEOUT_S} s")
