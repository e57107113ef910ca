"""Clients over their quotas wait as long at ours as at a real Kafka, whose tool sets the quotas.

Each use is one request that is measured against a whole span of windows: both say the same but for
the time that passes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from logquake.client.connection import connect_to_one
from logquake.client.network.settings import NetworkSettings
from logquake.client.settings import Address
from logquake.cluster.api import Cluster
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from logquake.wire.messages.quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
)
from logquake.wire.messages.topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from logquake.wire.records import Record, encode_batch
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.twins import Twin, both, twins_of
from tests.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.maven]

CONFIGS = "kafka.admin.ConfigCommand"
TOPIC = "orders"
RATE = 10_000
SIZE = 15 * RATE  # half as much again as ten seconds' worth: five seconds more are lacking
TIMEOUT_MS = 60_000
WAIT_MS = 5_000
SLACK_MS = 1_000  # what else is in a request, and the time that passes
LIMITS = {
    "writer": ("producer_byte_rate", RATE),
    "librdkafka": ("producer_byte_rate", RATE),
    "reader": ("consumer_byte_rate", RATE),
    "maker": ("controller_mutation_rate", 1),
    "idler": ("producer_byte_rate", 0),
    "last": ("producer_byte_rate", 1),  # once this one is held to, all are
}


class Limited(Twin):
    def ask_as(self, client_id: str, request: Any, answer: Any, version: int) -> Any:
        settings = NetworkSettings(client_id, TIMEOUT_MS)
        address = Address("127.0.0.1", self.port)
        with closing(connect_to_one(address, settings)) as there:
            return there.request(request, answer, at_most=version)

    def limit(self) -> None:
        entries = [
            AlterClientQuotasRequestEntryData(
                entity=[EntityData(entity_type="client-id", entity_name=client_id)],
                ops=[OpData(key=key, value=value)],
            )
            for client_id, (key, value) in LIMITS.items()
        ]
        for entry in entries:
            request = AlterClientQuotasRequest(entries=[entry])
            (told,) = self.ask(request, AlterClientQuotasResponse, 1).entries
            assert told.error_code == 0
        wait_for("quotas that hold", lambda: self.produce("last", 10), lambda wait_ms: wait_ms > 0)

    def settings(self, client_id: str, waits: list[float]) -> dict[str, Any]:
        """Of librdkafka, which puts what it is told into ``waits``, in ms."""
        return {
            "bootstrap.servers": f"127.0.0.1:{self.port}",
            "client.id": client_id,
            "throttle_cb": lambda event: waits.append(event.throttle_time * 1_000),
        }

    def produce(self, client_id: str, size: int, topic: str = TOPIC) -> int:
        """How long the client is to wait, in ms."""
        record = Record(0, 1_700_000_000_000, None, os.urandom(size), ())
        data = PartitionProduceData(index=0, records=encode_batch([record]))
        told = TopicProduceData(name=topic, partition_data=[data])
        request = ProduceRequest(acks=1, timeout_ms=10_000, topic_data=[told])
        answer = self.ask_as(client_id, request, ProduceResponse, 9)
        assert answer.responses[0].partition_responses[0].error_code == 0
        return int(answer.throttle_time_ms)

    def make(self, version: int, *topics: tuple[str, int]) -> tuple[list[Any], int]:
        """Error and message of each topic, and how long the client is to wait."""
        wanted = [
            CreatableTopic(name=name, num_partitions=count, replication_factor=1)
            for name, count in topics
        ]
        request = CreateTopicsRequest(topics=wanted, timeout_ms=TIMEOUT_MS)
        answer = self.ask_as("maker", request, CreateTopicsResponse, version)
        told = sorted((each.name, each.error_code, each.error_message) for each in answer.topics)
        return told, answer.throttle_time_ms


@pytest.fixture(scope="module")
def twins(
    kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Limited, Limited]]:
    folder = tmp_path_factory.mktemp("limited")
    connect = cluster.zookeeper_connect
    # What is read later is of long ago.
    properties = {"log.retention.ms": -1}
    with twins_of(Limited, kafka_programs, connect, folder, properties) as both_of_them:
        for twin in both_of_them:
            twin.create(TOPIC)
            twin.limit()
        yield both_of_them


def is_about(expected_ms: int) -> Callable[[float], bool]:
    return lambda wait_ms: abs(wait_ms - expected_ms) < SLACK_MS


def test_one_large_produce(twins: tuple[Limited, Limited]) -> None:
    waits = [twin.produce("writer", SIZE) for twin in twins]
    assert all(map(is_about(WAIT_MS), waits)), waits


def test_a_limit_of_nothing_makes_nobody_wait(twins: tuple[Limited, Limited]) -> None:
    assert both(twins, Limited.produce, "idler", SIZE) == 0


def test_topics_beyond_what_there_was(twins: tuple[Limited, Limited]) -> None:
    """Of eleven at once: thirty are lacking, a second each."""
    answers = [twin.make(7, ("first", 41)) for twin in twins]
    assert [told for told, _ in answers] == [[("first", 0, None)]] * 2
    answers = [twin.make(7, ("second", 1)) for twin in twins]
    refused = [("second", ErrorCode.THROTTLING_QUOTA_EXCEEDED, None)]
    assert [told for told, _ in answers] == [refused] * 2
    assert all(0 < wait_ms <= 30_000 for _, wait_ms in answers), answers
    answers = [twin.make(5, ("third", 1)) for twin in twins]
    assert [told for told, _ in answers] == [[("third", 0, None)]] * 2
    assert all(0 < wait_ms <= 31_000 for _, wait_ms in answers), answers


def first_wait_ms(client: Producer | Consumer, waits: list[float]) -> float:
    def look() -> list[float]:
        client.poll(0.1)
        return waits

    return wait_for("a wait that is told", look)[0]


def test_librdkafkas_producer_hears_of_it(twins: tuple[Limited, Limited]) -> None:
    for twin in twins:
        waits: list[float] = []
        producer = Producer(twin.settings("librdkafka", waits))
        producer.produce(TOPIC, os.urandom(SIZE), partition=0)
        assert is_about(WAIT_MS)(first_wait_ms(producer, waits)), waits


def test_librdkafkas_consumer_hears_of_it(twins: tuple[Limited, Limited]) -> None:
    for twin in twins:
        twin.create("lines")
        twin.produce("anybody", SIZE, "lines")
        waits: list[float] = []
        consumer = Consumer({"group.id": "readers", **twin.settings("reader", waits)})
        consumer.assign([TopicPartition("lines", 0, 0)])
        wait_ms = first_wait_ms(consumer, waits)
        consumer.close()
        assert is_about(WAIT_MS)(wait_ms), waits


def test_kafkas_tool_sets_and_shows_them(
    twins: tuple[Limited, Limited], kafka_programs: KafkaPrograms
) -> None:
    entity = ("--entity-type", "users", "--entity-name", "al ice", "--entity-type", "clients")
    values = "producer_byte_rate=1024,request_percentage=12.5,controller_mutation_rate=1e7"

    def configs(twin: Limited, *arguments: str) -> str:
        at = ("--bootstrap-server", f"127.0.0.1:{twin.port}")
        return kafka_programs.run(CONFIGS, *at, *arguments, *entity, "--entity-default")

    both(twins, configs, "--alter", "--add-config", values)
    assert "request_percentage=12.5" in both(twins, configs, "--describe")
