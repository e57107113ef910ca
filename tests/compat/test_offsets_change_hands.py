"""What was committed is there when a Kafka 3.9 takes over from ours, and ours from it.

Each is killed in the middle of a transaction that commits offsets too; the next one ends it.
"""

from __future__ import annotations

import pytest
from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic

from tests.compat.adapters.librdkafka import transactional_producer
from tests.compat.directory_in_turns import DirectoryInTurns
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.maven, pytest.mark.slow]

TOPIC = "orders"
QUIET = {"log_level": 0}  # brokers are killed under these clients


def at(offset: int, partition: int = 0) -> TopicPartition:
    return TopicPartition(TOPIC, partition, offset)


class Group:
    """One that was assigned its partitions by hand."""

    def __init__(self, servers: str, name: str) -> None:
        self.name = name
        self._admin = AdminClient({"bootstrap.servers": servers, **QUIET})
        self.consumer = Consumer({"bootstrap.servers": servers, "group.id": name, **QUIET})

    def commit(self, *offsets: TopicPartition) -> None:
        self.consumer.commit(offsets=list(offsets), asynchronous=False)

    def committed(self) -> list[int]:
        """Of both partitions, once the coordinator has its log."""
        found = wait_for(
            f"offsets of {self.name}",
            lambda: self.consumer.committed([at(0), at(0, 1)], timeout=10),
            lambda offsets: all(each.error is None for each in offsets),
            unready=(KafkaException,),
        )
        return [each.offset for each in found]

    def listed(self) -> list[tuple[int, int]]:
        asked = ConsumerGroupTopicPartitions(self.name)
        answered = self._admin.list_consumer_group_offsets([asked], require_stable=False)
        found = answered[self.name].result(PATIENCE_S).topic_partitions
        return sorted((each.partition, each.offset) for each in found)


def leave_a_transaction_open(servers: str, group: Group, *offsets: TopicPartition) -> None:
    producer = transactional_producer(servers, "mover", QUIET)
    producer.begin_transaction()
    producer.produce(TOPIC, b"never seen", partition=0)
    metadata = group.consumer.consumer_group_metadata()
    producer.send_offsets_to_transaction(list(offsets), metadata, PATIENCE_S)
    producer.flush(PATIENCE_S)


def commit_by_transaction(servers: str, group: Group, *offsets: TopicPartition) -> None:
    """First the one is aborted that the earlier broker left open."""
    producer = transactional_producer(servers, "mover", QUIET)
    producer.begin_transaction()
    metadata = group.consumer.consumer_group_metadata()
    producer.send_offsets_to_transaction(list(offsets), metadata, PATIENCE_S)
    producer.commit_transaction(PATIENCE_S)


def test_offsets_outlive_who_wrote_them(turns: DirectoryInTurns) -> None:
    with turns.ours() as servers:
        admin = AdminClient({"bootstrap.servers": servers, **QUIET})
        admin.create_topics([NewTopic(TOPIC, 2, 1)])[TOPIC].result(PATIENCE_S)
        plain, moved = Group(servers, "plain"), Group(servers, "moved")
        plain.commit(at(1), at(2, 1))
        plain.commit(at(3))
        moved.commit(at(4))
        leave_a_transaction_open(servers, moved, at(99), at(99, 1))
        turns.kill()
    with turns.kafka() as servers:
        plain, moved = Group(servers, "plain"), Group(servers, "moved")
        assert plain.committed() == [3, 2]
        commit_by_transaction(servers, moved, at(5, 1))
        assert moved.committed() == [4, 5]
        plain.commit(at(6))
        leave_a_transaction_open(servers, moved, at(99), at(99, 1))
        turns.kill()
    with turns.ours() as servers:
        plain, moved = Group(servers, "plain"), Group(servers, "moved")
        assert plain.committed() == [6, 2]
        commit_by_transaction(servers, moved, at(7))
        assert moved.committed() == [7, 5]
        assert moved.listed() == [(0, 7), (1, 5)]
