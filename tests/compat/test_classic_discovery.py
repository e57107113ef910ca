"""Brokers that come and go, as the older clients learn of it from ZooKeeper."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from confluent_kafka.admin import AdminClient, NewPartitions

from logquake.client.classic.messages import KeyedMessage
from logquake.client.classic.producer import Producer
from logquake.client.classic.serializer import StringEncoder
from logquake.cluster.api import Cluster
from tests.compat.classic_groups import keys_of, our_member
from tests.compat.classic_twins import PATIENCE_MS
from tests.compat.sessions import LONG_MS
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.slow

PARTITIONS = 6


@pytest.fixture
def producer(cluster: Cluster) -> Iterator[Producer]:
    """It knows ZooKeeper alone."""
    keys: dict[str, object] = {
        "zk.connect": cluster.zookeeper_connect,
        "zk.sessiontimeout.ms": LONG_MS,
        "serializer.class": StringEncoder(),
        "request.required.acks": -1,
        "request.timeout.ms": PATIENCE_MS,
        "num.retries": 300,
    }
    with Producer(keys) as producer:
        yield producer


def leaders(cluster: Cluster, topic: str) -> set[int]:
    with cluster.admin(PATIENCE_S) as admin:
        partitions = admin.describe_topics([topic])[topic].result().partitions
    return {each.leader.id for each in partitions if each.leader is not None}


def test_a_producer_and_a_group_outlive_a_broker(
    cluster: Cluster, topic: Callable[..., str], producer: Producer
) -> None:
    name = topic(partitions=PARTITIONS)
    written: list[str] = []

    def write(count: int) -> None:
        texts = [str(each) for each in range(len(written), len(written) + count)]
        producer.send(*(KeyedMessage(name, text, part_key=int(text)) for text in texts))
        written.extend(texts)

    with our_member(keys_of(cluster.zookeeper_connect, f"group-{name}"), name, streams=2) as ours:
        write(30)
        victim = min(leaders(cluster, name))
        with cluster.stop(victim):
            wait_for("other leaders", lambda: victim in leaders(cluster, name), lambda led: not led)
            write(30)
            wait_for(
                "messages",
                lambda: {text for _, _, text in ours.taken()},
                lambda found: found == set(written),
            )
        write(30)
        wait_for(
            "messages",
            lambda: sorted(int(text) for _, _, text in ours.taken()),
            lambda found: found == list(range(90)),
        )


def test_partitions_that_are_added_are_written_to_and_read(
    cluster: Cluster, topic: Callable[..., str], producer: Producer
) -> None:
    name = topic(partitions=1)
    with our_member(keys_of(cluster.zookeeper_connect, f"group-{name}"), name) as ours:
        producer.send(KeyedMessage(name, "before", part_key=3))
        grown = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        grown.create_partitions([NewPartitions(name, 4)])[name].result(PATIENCE_S)
        wait_for("partitions", ours.connector.owned, lambda owned: len(owned) == 4)

        def write() -> int:
            producer.send(KeyedMessage(name, "after", part_key=3))
            return max((place.partition for place, _, _ in ours.taken()), default=-1)

        wait_for("message in the last partition", write, lambda last: last == 3)
