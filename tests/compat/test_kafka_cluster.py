"""Apache Kafka's brokers as members of a cluster: what is done to ours is done to them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from logquake.cluster.api import Cluster
from logquake.cluster.errors import ClusterError
from logquake.cluster.kafka.libraries import find_libraries
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.maven
STARTED_S = 2 * PATIENCE_S  # a JVM wants seconds of processor, which others may have


@pytest.fixture(scope="module")
def kafka() -> Iterator[Cluster]:
    try:
        libraries = find_libraries()
    except ClusterError as error:
        pytest.skip(str(error))
    # A JVM that has just started may be starved for longer than the preset's session lasts.
    config = {"zookeeper.session.timeout.ms": 18000}
    kafka = Cluster(config=config, kafka=libraries, links=True).open(timeout=STARTED_S)
    try:
        kafka.create_topic("orders", partitions=1, timeout=PATIENCE_S)
        yield kafka
    finally:
        kafka.close()


def test_a_broker_is_killed_and_ready_when_it_was_started(kafka: Cluster) -> None:
    killed = kafka.kill("leader:orders/0")
    kafka.wait_leader_change("orders", 0, since=killed, timeout=PATIENCE_S)
    kafka.start(killed.member, timeout=STARTED_S)
    kafka.wait_isr("orders", 0, size=3, timeout=PATIENCE_S)


def test_each_broker_reaches_each_other_by_a_link_that_can_be_cut(kafka: Cluster) -> None:
    # None may be behind already: the ISR would shrink by somebody else.
    kafka.wait_isr("orders", 0, size=3, timeout=PATIENCE_S)
    leader = kafka.leader("orders", 0)
    # Not the controller, whose word on the ISR would be cut off as well.
    busy = {leader, kafka.controller()}
    follower = next(one for one in kafka.isr("orders", 0) if one not in busy)
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "acks": 1})
    with kafka.cut(follower, leader):
        producer.produce("orders", b"what the follower lacks")
        assert producer.flush(PATIENCE_S) == 0
        wait_for(
            "an ISR without who is cut off",
            lambda: kafka.isr("orders", 0),
            lambda isr: follower not in isr,
        )
    kafka.wait_isr("orders", 0, size=3, timeout=PATIENCE_S)


def test_its_answers_are_injected(kafka: Cluster) -> None:
    refused = Producer({"bootstrap.servers": kafka.bootstrap_servers, "retries": 0})
    told: list[str] = []
    with kafka.inject("Produce", error="TOPIC_AUTHORIZATION_FAILED", source="clients"):
        refused.produce("orders", b"1", on_delivery=lambda error, _: told.append(str(error)))
        assert refused.flush(PATIENCE_S) == 0
    assert len(told) == 1
    assert "TOPIC_AUTHORIZATION_FAILED" in told[0]


def test_what_needs_our_own_broker_is_refused(kafka: Cluster) -> None:
    with pytest.raises(ClusterError, match="without --kafka"):
        kafka.disk_full(2)
    with pytest.raises(ClusterError, match="without --kafka"):
        kafka.power_loss(2)
