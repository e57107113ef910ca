"""Topics for measuring: made before a run, counted after it, deleted in the end."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from benchmarks.errors import BenchmarkError

TIMEOUT_S = 30
_ERRORS_ONLY = 3
_ATTEMPTS, _RETRY_S = 20, 0.5

# Broker settings. A deleted topic's pages are dirty until its files go: with the default of a
# minute the machine would write one run's data to the disk while the next one is measured.
FREED_AFTER_S = 1.0
FREES_SOON = {"log.segment.delete.delay.ms": f"{FREED_AFTER_S * 1000:.0f}"}


@contextlib.contextmanager
def scratch_topic(
    bootstrap: str, partitions: int, replicas: int, config: Mapping[str, str] | None = None
) -> Iterator[str]:
    """A new topic for the length of a block; its partitions have leaders."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": _ERRORS_ONLY})
    name = f"benchmark-{os.urandom(4).hex()}"
    create(admin, name, partitions, replicas, config)
    try:
        yield name
    finally:
        delete(bootstrap, name)


def create(
    admin: AdminClient,
    name: str,
    partitions: int,
    replicas: int,
    config: Mapping[str, str] | None = None,
) -> None:
    """Raises BenchmarkError when the cluster refuses, or has no leaders in time."""
    wanted = NewTopic(name, partitions, replicas, config=dict(config or {}))
    try:
        admin.create_topics([wanted], request_timeout=TIMEOUT_S)[name].result(TIMEOUT_S)
        _await_leaders(admin, name)
    except KafkaException as error:
        raise BenchmarkError(f"topic {name}: {error.args[0]}") from error


def delete(bootstrap: str, name: str) -> None:
    """The controller may have moved since a client last heard of it: then a new one asks."""
    for attempt in range(_ATTEMPTS):
        admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": _ERRORS_ONLY})
        try:
            admin.delete_topics([name], request_timeout=TIMEOUT_S)[name].result(TIMEOUT_S)
            return
        except KafkaException as error:
            if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                return  # an earlier attempt did it
            if attempt == _ATTEMPTS - 1:
                raise BenchmarkError(f"topic {name}: {error.args[0]}") from error
            time.sleep(_RETRY_S)


def message_count(bootstrap: str, topic: str, partitions: int) -> int:
    """Messages that consumers may see: the sum of the high watermarks of a topic from offset 0."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "benchmark"})
    try:
        return sum(
            consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=TIMEOUT_S)[1]
            for partition in range(partitions)
        )
    finally:
        consumer.close()


def _await_leaders(admin: AdminClient, name: str) -> None:
    """Brokers answer a metadata request at once, so the first answers may have no leaders yet."""
    for _ in range(TIMEOUT_S * 100):
        topic = admin.list_topics(name, timeout=TIMEOUT_S).topics[name]
        if topic.error is None and all(one.leader >= 0 for one in topic.partitions.values()):
            return
        if topic.error and topic.error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise KafkaException(topic.error)
    raise BenchmarkError(f"topic {name} has no leaders after {TIMEOUT_S} s")
