"""Topics grow, and leaders are elected on request, as by a Kafka 3.9 in a cluster of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from logquake.cluster.api import Cluster
from logquake.wire.messages.reassignment import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    TopicPartitions,
)
from logquake.wire.messages.topics import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.twins import Twin, both, twins_of

pytestmark = [pytest.mark.maven, pytest.mark.slow]

TIMEOUT_MS = 60_000
Growth = tuple[str, int, list[list[int]] | None]
# More partitions, on these brokers: of a topic with one partition on broker 1.
REFUSED: list[Growth] = [
    ("orders", 1, None),
    ("orders", 0, None),
    ("orders", -3, None),
    ("nowhere", 2, None),
    ("orders", 2, []),
    ("orders", 2, [[7]]),
    ("orders", 3, [[1]]),
    ("orders", 2, [[]]),
    ("orders", 2, [[1, 1]]),
]


@pytest.fixture
def twins(
    kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path: Path
) -> Iterator[tuple[Twin, Twin]]:
    with twins_of(Twin, kafka_programs, cluster.zookeeper_connect, tmp_path, {}) as twins:
        yield twins


def grow(twin: Twin, /, version: int, *wanted: Growth, **rest: Any) -> Any:
    """Name, error and message of each topic."""
    topics = [
        CreatePartitionsTopic(
            name=name,
            count=count,
            assignments=None
            if placed is None
            else [CreatePartitionsAssignment(broker_ids=each) for each in placed],
        )
        for name, count, placed in wanted
    ]
    request = CreatePartitionsRequest(topics=topics, **{"timeout_ms": TIMEOUT_MS, **rest})
    answer = twin.ask(request, CreatePartitionsResponse, version)
    return answer.throttle_time_ms, sorted(
        (each.name, each.error_code, each.error_message) for each in answer.results
    )


def elect(twin: Twin, /, version: int, topics: list[TopicPartitions] | None, type_: int) -> Any:
    request = ElectLeadersRequest(
        topic_partitions=topics, timeout_ms=TIMEOUT_MS, election_type=type_
    )
    answer = twin.ask(request, ElectLeadersResponse, version)
    return answer.error_code, sorted(
        (topic.topic, each.partition_id, each.error_code, each.error_message)
        for topic in answer.replica_election_results
        for each in topic.partition_result
    )


def test_both_do_the_same(twins: tuple[Twin, Twin]) -> None:
    """One start of Kafka serves all that is compared."""
    assert both(twins, lambda broker: broker.create("orders")) == ("NONE", None)
    for version in range(4):
        for wanted in REFUSED:
            both(twins, grow, version, wanted)
        both(twins, grow, version, *REFUSED[:4])
        both(twins, grow, version)
        two_more: Growth = ("orders", 3 + 2 * version, None)
        both(twins, grow, version, two_more, validate_only=True)
        grown = both(twins, grow, version, two_more)
        assert grown == (0, [("orders", 0, None)])
        both(twins, lambda broker: partitions_of(broker.topic("orders")))
    no_wait: Growth = ("orders", 10, [[1]])
    both(twins, grow, 3, no_wait, timeout_ms=0)
    asked = [
        TopicPartitions(topic="orders", partitions=[0, 1, 99]),
        TopicPartitions(topic="nowhere", partitions=[0]),
    ]
    for version in range(3):
        for type_ in (0, 1, 7) if version else (0,):
            for topics in (asked, None, []):
                both(twins, elect, version, topics, type_)


def partitions_of(topic: Any) -> list[tuple[int, int, list[int]]]:
    return sorted(
        (each.partition_index, each.leader_id, each.replica_nodes) for each in topic.partitions
    )
