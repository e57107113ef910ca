"""A cluster in which one broker of ours and one of Kafka's hold the coordinators' topics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

from confluent_kafka.admin import NewTopic

from logquake.cluster.api import Cluster
from logquake.node.metadata.topic_names import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
from tests.compat.joining_kafka import KAFKA_ID, joining_properties, registered_kafka
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.new_topics import create

OURS, LEADS_RECORDS = 1, 2
COORDINATED = (GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC)
# Brokers of both kinds count by these: they run before the topics are there.
_ONE_PARTITION = {
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.num.partitions": 1,
    "transaction.state.log.min.isr": 1,
    "min.insync.replicas": 1,
    "auto.leader.rebalance.enable": "false",
    # A starved follower stays who leads next, and is waited for.
    "replica.lag.time.max.ms": 60_000,
    "offsets.commit.timeout.ms": 60_000,
}


def cluster_of_ours(folder: Path) -> Cluster:
    return Cluster(brokers=3, config=_ONE_PARTITION, data_dir=folder / "data")


@contextmanager
def coordinated_by_both(programs: KafkaPrograms, cluster: Cluster) -> Iterator[Popen[bytes]]:
    """Kafka's broker; ours leads."""
    properties = joining_properties(programs, cluster) | _ONE_PARTITION
    with registered_kafka(programs, properties, cluster) as kafka:
        for topic in COORDINATED:
            placed = NewTopic(
                topic,
                1,
                replica_assignment=[[OURS, KAFKA_ID]],
                config={"cleanup.policy": "compact"},
            )
            create(cluster.bootstrap_servers, placed)
        yield kafka
