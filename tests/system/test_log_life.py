"""Records leave the logs of a running cluster: on request, and by retention."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from logquake.cluster.api import Cluster
from tests.log_contents import bounds
from tests.waiting import PATIENCE_S, wait_for

BROKERS = 3
CONFIG = {
    "log.retention.check.interval.ms": "200",
    "log.initial.task.delay.ms": "0",
    "log.segment.delete.delay.ms": "300",
    "auto.leader.rebalance.enable": "false",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("log-life") / "cluster"


@pytest.fixture(scope="module")
def kafka(root: Path) -> Iterator[Cluster]:
    with Cluster(brokers=BROKERS, config=CONFIG, data_dir=root) as cluster:
        yield cluster


def create(kafka: Cluster, topic: str, **configs: str) -> None:
    config = {key.replace("_", "."): value for key, value in configs.items()}
    kafka.create_topic(topic, partitions=1, replication_factor=BROKERS, config=config)


def write(kafka: Cluster, topic: str, count: int, size: int = 1_000) -> None:
    """Each record in a batch of its own, acknowledged by all."""
    producer = Producer(
        {"bootstrap.servers": kafka.bootstrap_servers, "acks": "all", "batch.num.messages": 1}
    )
    for number in range(count):
        producer.produce(topic, b"%d" % number + bytes(size), partition=0)
    assert producer.flush(PATIENCE_S) == 0


def first_record(kafka: Cluster, topic: str) -> int:
    """The offset of what a reader from the beginning is given first."""
    consumer = Consumer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": "none",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
    )
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        message = consumer.poll(PATIENCE_S)
        assert message is not None
        assert message.error() is None
        offset = message.offset()
        assert offset is not None
        return offset
    finally:
        consumer.close()


def folders(root: Path, topic: str) -> list[Path]:
    return [root / f"broker-{broker}" / "data" / f"{topic}-0" for broker in range(1, BROKERS + 1)]


def test_deleted_records_are_gone_for_readers_and_stay_so(kafka: Cluster) -> None:
    create(kafka, "orders")
    write(kafka, "orders", 10)
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
    asked = TopicPartition("orders", 0, 7)
    deleted = admin.delete_records([asked], operation_timeout=PATIENCE_S)[asked].result()
    # Answered when every replica starts there: whoever leads next gives nothing earlier.
    assert deleted.low_watermark == 7
    assert bounds(kafka, "orders") == (7, 10)
    assert first_record(kafka, "orders") == 7
    leader = kafka.leader("orders", 0)
    kafka.wait_leader_change("orders", 0, kafka.kill(leader))
    kafka.start(leader)
    kafka.wait_isr("orders", 0, BROKERS)
    assert kafka.leader("orders", 0) != leader
    assert bounds(kafka, "orders") == (7, 10)


def test_all_records_can_be_deleted_and_more_written(kafka: Cluster) -> None:
    create(kafka, "emptied")
    write(kafka, "emptied", 5)
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
    asked = TopicPartition("emptied", 0, -1)
    deleted = admin.delete_records([asked], operation_timeout=PATIENCE_S)[asked].result()
    assert deleted.low_watermark == 5
    write(kafka, "emptied", 1)
    assert first_record(kafka, "emptied") == 5


def test_old_segments_leave_every_replica(kafka: Cluster, root: Path) -> None:
    create(kafka, "events", segment_bytes="10000", retention_bytes="25000")
    write(kafka, "events", 100)

    def logs() -> list[int]:
        return [len(list(folder.glob("*.log"))) for folder in folders(root, "events")]

    wait_for("retention", logs, lambda counts: max(counts) <= 4)
    low, high = bounds(kafka, "events")
    assert high == 100
    assert 60 < low < 80
    assert first_record(kafka, "events") == low
    wait_for(
        "removal of deleted files",
        lambda: [path for folder in folders(root, "events") for path in folder.glob("*.deleted")],
        lambda left: not left,
    )


def test_a_follower_that_was_away_starts_where_retention_left_its_leader(
    kafka: Cluster, root: Path
) -> None:
    create(kafka, "missed", segment_bytes="10000", retention_bytes="25000")
    write(kafka, "missed", 10)
    leader = kafka.leader("missed", 0)
    away = next(broker for broker in range(1, BROKERS + 1) if broker != leader)
    kafka.kill(away)
    kafka.wait_isr("missed", 0, BROKERS - 1)
    write(kafka, "missed", 100)
    wait_for("retention", lambda: bounds(kafka, "missed"), lambda found: found[0] > 60)
    kafka.start(away)
    kafka.wait_isr("missed", 0, BROKERS)
    low, _ = bounds(kafka, "missed")
    folder = root / f"broker-{away}" / "data" / "missed-0"
    first = min(int(path.name[:20]) for path in folder.glob("*.log"))
    assert first >= 60
    assert low >= 60
