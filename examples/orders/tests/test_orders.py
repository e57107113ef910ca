"""Every order that was taken is told: by a Kafka that is well, and by one that is not."""

from __future__ import annotations

import json
from functools import partial

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition
from orders.relay import CarefulRelay, HastyRelay
from orders.shop import Shop

from logquake.cluster.api import Cluster

PARTITIONS = 6
CUSTOMERS = 20
PATIENCE_S = 60

Relay = HastyRelay | CarefulRelay

pytestmark = pytest.mark.logquake_topic(partitions=PARTITIONS)


def test_orders_are_told(shop: Shop, relay: Relay, logquake: Cluster, topic: str) -> None:
    taken = take_orders(shop)
    relay.run_once()
    assert told(logquake, topic) == taken


def test_a_leader_is_killed(shop: Shop, relay: Relay, logquake: Cluster, topic: str) -> None:
    taken = take_orders(shop)
    relay.run_once()
    with logquake.kill(f"leader:{topic}/0"):
        taken += take_orders(shop)
        relay.run_once()
    tell_the_rest(shop, relay, logquake)
    assert told(logquake, topic) == taken


def test_a_link_is_cut(shop: Shop, relay: Relay, logquake: Cluster, topic: str) -> None:
    with logquake.cut("clients", f"leader:{topic}/0", both=True):
        taken = take_orders(shop)
        relay.run_once()
    tell_the_rest(shop, relay, logquake)
    assert told(logquake, topic) == taken


def test_a_disk_is_slow(shop: Shop, relay: Relay, logquake: Cluster, topic: str) -> None:
    with logquake.slow_disk(f"leader:{topic}/0", ms=1500):
        taken = take_orders(shop)
        relay.run_once()
    tell_the_rest(shop, relay, logquake)
    assert told(logquake, topic) == taken


def take_orders(shop: Shop) -> list[int]:
    return [shop.order(f"customer-{number}", amount=number) for number in range(CUSTOMERS)]


def tell_the_rest(shop: Shop, relay: Relay, kafka: Cluster) -> None:
    def nothing_is_left() -> bool:
        relay.run_once()
        return not shop.untold()

    kafka.eventually(nothing_is_left, "an outbox with nothing left", timeout=PATIENCE_S)


def watermarks(consumer: Consumer, place: TopicPartition) -> tuple[int, int] | None:
    """None of a new leader that does not know yet how much is committed."""
    try:
        return consumer.get_watermark_offsets(place, timeout=PATIENCE_S)
    except KafkaException:
        return None


def told(kafka: Cluster, topic: str) -> list[int]:
    """The orders that a reader finds, each once, in the order in which they were taken."""
    consumer = Consumer({**kafka.client_config(), "group.id": "audit"})
    found: set[int] = set()
    try:
        for partition in range(PARTITIONS):
            place = TopicPartition(topic, partition, 0)
            _, end = kafka.eventually(partial(watermarks, consumer, place), timeout=PATIENCE_S)
            consumer.assign([place])
            messages = consumer.consume(end, PATIENCE_S) if end else []
            assert len(messages) == end, f"{end} orders in {place}, {len(messages)} came"
            found.update(json.loads(message.value())["order"] for message in messages)
    finally:
        consumer.close()
    return sorted(found)
