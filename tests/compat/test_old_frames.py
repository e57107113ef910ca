"""Requests of every age: what a real Kafka answers is what was stored, and what ours answers.

UPDATE_VECTORS=1 stores Kafka's answers anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from logquake.cluster.api import Cluster
from logquake.wire.api import ApiKey
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from logquake.wire.schema import decode, encode
from tests.compat.lone_kafka import KAFKA_ID, LoneKafka, Wire
from tests.compat.old_frames import (
    cases,
    differences,
    play,
    readable,
    store,
    stored,
    topic_name,
)
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.slow

RECORDS_STAY = {"retention.ms": "-1"}  # many have times of long ago


def answers(servers: str, broker_id: int) -> dict[str, list[bytes]]:
    """Of one broker, which leads all these topics, to every case."""
    admin = AdminClient({"bootstrap.servers": servers})
    all_cases = list(cases())
    news = [
        NewTopic(
            topic_name(at), 1, replica_assignment=[[broker_id]], config=case.config | RECORDS_STAY
        )
        for at, case in enumerate(all_cases)
    ]
    for future in admin.create_topics(news, operation_timeout=PATIENCE_S).values():
        future.result(PATIENCE_S)
    host, port = servers.split(":")
    with closing(Wire(host, int(port))) as wire:
        wait_until_leads(wire, len(all_cases), broker_id)
        return {
            case.name: play(case, topic_name(at), wire.send) for at, case in enumerate(all_cases)
        }


def wait_until_leads(wire: Wire, topics: int, broker_id: int) -> None:
    """Topics are created once the broker that was asked knows them; this one may hear of it later.

    A broker hears what it leads before it hears of who leads what.
    """
    asked = MetadataRequest(
        topics=[MetadataRequestTopic(name=topic_name(n)) for n in range(topics)]
    )

    def led() -> int:
        answer = wire.send(ApiKey.METADATA, 1, encode(asked, 1))
        response = decode(MetadataResponse, 1, memoryview(answer))
        return sum(_leaders(topic) == [broker_id] for topic in response.topics)

    wait_for(f"broker {broker_id} that leads {topics} topics", led, topics.__eq__)


def _leaders(topic: MetadataResponseTopic) -> list[int]:
    return [partition.leader_id for partition in topic.partitions]


@pytest.mark.maven
def test_a_real_kafka_answers_as_was_stored(
    lone_kafka: LoneKafka, record_property: Callable[[str, object], None]
) -> None:
    got = answers(lone_kafka.servers, KAFKA_ID)
    if os.environ.get("UPDATE_VECTORS"):
        store(got)
    expected = stored()
    for case in cases():
        assert readable(case, got[case.name]) == readable(case, expected[case.name]), case.name
        record_property("answers of a real Kafka to old requests are as stored", len(case.asks))


def test_a_cluster_of_ours_answers_as_kafka_did(
    cluster: Cluster, record_property: Callable[[str, object], None]
) -> None:
    broker = cluster.bootstrap_servers.split(",")[0]
    got, expected = answers(broker, 1), stored()
    for case in cases():
        assert not differences(case, got[case.name], expected[case.name]), case.name
        record_property("old requests over TCP are answered as a real Kafka did", len(case.asks))
