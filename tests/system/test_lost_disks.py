"""A follower comes back with an empty disk to a log that starts within a batch."""

from __future__ import annotations

import shutil
from pathlib import Path

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from logquake.cluster.api import Cluster
from logquake.wire.records import iterate_batches
from tests.log_contents import bounds, send_batch
from tests.waiting import PATIENCE_S

BROKERS = 3
TOPIC = "orders"
RECORDS, START = 50, 25


def delete_records_before(kafka: Cluster, offset: int) -> None:
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
    asked = TopicPartition(TOPIC, 0, offset)
    deleted = admin.delete_records([asked], operation_timeout=PATIENCE_S)[asked].result()
    assert deleted.low_watermark == offset


def logs(kafka: Cluster) -> set[bytes]:
    """The partition's one segment on all brokers: a single content where they agree."""
    name = f"{TOPIC}-0/{0:020d}.log"
    brokers = range(1, BROKERS + 1)
    return {(kafka.layout.data_of(broker) / name).read_bytes() for broker in brokers}


def test_an_emptied_follower_gets_past_a_log_start_within_a_batch(tmp_path: Path) -> None:
    with Cluster(brokers=BROKERS, data_dir=tmp_path / "cluster") as kafka:
        kafka.create_topic(TOPIC, partitions=1, replication_factor=BROKERS)
        # librdkafka may send the first records by themselves, whatever its linger.
        send_batch(kafka, TOPIC, *(b"%d" % number for number in range(RECORDS)))
        delete_records_before(kafka, START)
        leader = kafka.leader(TOPIC, 0)
        emptied = next(broker for broker in range(1, BROKERS + 1) if broker != leader)
        kafka.kill(emptied)
        kafka.wait_isr(TOPIC, 0, BROKERS - 1)
        shutil.rmtree(kafka.layout.data_of(emptied))
        kafka.start(emptied)
        kafka.wait_isr(TOPIC, 0, BROKERS)
        assert bounds(kafka, TOPIC) == (START, RECORDS)
        (log,) = logs(kafka)
        ((_, batch),) = iterate_batches(memoryview(log))
        assert (batch.base_offset, batch.next_offset) == (0, RECORDS)
        others = {*range(1, BROKERS + 1)} - {emptied}
        for left, broker in enumerate(sorted(others)):
            kafka.kill(broker)
            kafka.wait_isr(TOPIC, 0, BROKERS - 1 - left)
        assert kafka.wait_leader(TOPIC, 0) == emptied
        assert bounds(kafka, TOPIC) == (START, RECORDS)
