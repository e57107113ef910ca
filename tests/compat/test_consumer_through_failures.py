"""Our consumer goes on when leaders and coordinators change: nothing is lost or comes twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing

import pytest
from confluent_kafka import Producer

from logquake.client import Consumer, aio
from logquake.client.errors import TimedOutError
from logquake.cluster.api import Cluster
from logquake.wire.topic_partition import TopicPartition
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.slow

PATIENCE_MS = int(PATIENCE_S * 1000)


def write(cluster: Cluster, topic: str, first: int, count: int) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"})
    for number in range(first, first + count):
        producer.produce(topic, b"%d" % number, partition=0)
    assert producer.flush(PATIENCE_S) == 0


def keys(cluster: Cluster, **more: object) -> dict[str, object]:
    of_all = {"bootstrap.servers": cluster.bootstrap_servers, "auto.offset.reset": "earliest"}
    return {**of_all, "max.poll.records": 7, **more}


def test_leaders_and_coordinators_that_are_gone_are_followed(
    cluster: Cluster, topic: Callable[..., str]
) -> None:
    name = topic(partitions=1, replicas=3)
    place = TopicPartition(name, 0)
    values: list[bytes] = []

    with Consumer(keys(cluster, group_id=name)) as consumer:

        def read() -> int:
            values.extend(record.value for record in consumer.poll(500))
            return len(values)

        def read_until(count: int) -> None:
            wait_for(f"{count} records", read, lambda seen: seen >= count)

        consumer.subscribe([name])
        for broker in (1, 2, 3):  # one of them leads, one coordinates
            write(cluster, name, len(values), 30)
            read_until(len(values) + 30)
            with cluster.kill(broker):
                write(cluster, name, len(values), 30)
                read_until(len(values) + 30)
                consumer.commit(timeout_ms=PATIENCE_MS)
            cluster.wait_ready()
        committed = consumer.committed([place])[place]
    assert committed is not None
    assert committed.offset == 180
    assert values == [b"%d" % number for number in range(180)]


def test_on_asyncios_loop_too(cluster: Cluster, topic: Callable[..., str]) -> None:
    name = topic(partitions=1, replicas=3)
    place = TopicPartition(name, 0)
    write(cluster, name, 0, 30)

    async def read() -> list[bytes]:
        values: list[bytes] = []
        async with aio.Consumer(keys(cluster)) as consumer:
            await consumer.assign([place])
            while len(values) < 30:
                values += [record.value for record in await consumer.poll(PATIENCE_MS)]
            with cluster.kill(cluster.leader(name, 0)):
                write(cluster, name, 30, 30)
                while len(values) < 60:
                    values += [record.value for record in await consumer.poll(PATIENCE_MS)]
                assert (await consumer.end_offsets([place])) == {place: 60}
            return values

    assert asyncio.run(read()) == [b"%d" % number for number in range(60)]
    cluster.wait_ready()


def test_without_a_broker_a_call_ends_when_its_time_is_up() -> None:
    nobody = {"bootstrap.servers": "127.0.0.1:1", "default.api.timeout.ms": 300, "group.id": "g"}
    place = TopicPartition("nowhere", 0)
    with closing(Consumer(nobody)) as consumer:
        consumer.assign([place])
        assert len(consumer.poll(200)) == 0
        for call in (
            lambda: consumer.position(place),
            lambda: consumer.end_offsets([place]),
            lambda: consumer.partitions_for("nowhere"),
            lambda: consumer.committed([place]),
            consumer.list_topics,
        ):
            with pytest.raises(TimedOutError):
                call()
        consumer.seek(place, 5)
        with pytest.raises(TimedOutError):
            consumer.commit()
        assert consumer.current_lag(place) is None
        consumer.close(timeout_ms=200)
