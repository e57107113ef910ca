"""A broker of Apache Kafka 3.9 that joins a cluster of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from subprocess import Popen

from confluent_kafka.admin import AdminClient
from kazoo.client import KazooClient

from logquake.cluster.api import Cluster
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.sessions import LONG_MS, end_session
from tests.waiting import PATIENCE_S, wait_for

KAFKA_ID = 9


def joining_properties(programs: KafkaPrograms, cluster: Cluster) -> dict[str, object]:
    return {
        "broker.id": KAFKA_ID,
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "log.dirs": programs.folder / "data",
        "zookeeper.connect": cluster.zookeeper_connect,
        "zookeeper.session.timeout.ms": LONG_MS,
        "replica.lag.time.max.ms": 2000,
        "controlled.shutdown.enable": "false",
        "auto.leader.rebalance.enable": "false",
    }


@contextmanager
def registered_kafka(
    programs: KafkaPrograms, properties: dict[str, object], cluster: Cluster
) -> Iterator[Popen[bytes]]:
    """Known to the controller, which would else make topics without it; killed at the end."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    with ExitStack() as ending:
        ending.callback(_end_session, cluster)
        process = ending.enter_context(programs.broker("broker-9", properties))
        wait_for(
            "metadata that names it",
            lambda: admin.list_topics(timeout=PATIENCE_S).brokers,
            lambda brokers: KAFKA_ID in brokers,
        )
        yield process


def kill(process: Popen[bytes], cluster: Cluster) -> None:
    """Before the end of the block: SIGKILL, and its session is over."""
    process.kill()
    process.wait()
    _end_session(cluster)


def _end_session(cluster: Cluster) -> None:
    znodes = KazooClient(cluster.zookeeper_connect)
    znodes.start(PATIENCE_S)
    try:
        end_session(znodes, KAFKA_ID)
    finally:
        znodes.stop()
        znodes.close()
