"""Transactions that a Kafka 3.9 coordinates, in partitions that ours lead and Kafka follows.

Its coordinator is asked before the first record of each (KIP-890), and sends the markers.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka.admin import NewTopic

from logquake.cluster.api import Cluster
from tests.compat.adapters.librdkafka import read_to_end
from tests.compat.joining_kafka import KAFKA_ID, joining_properties, registered_kafka
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.new_topics import create
from tests.compat.transactional_log import TOPIC, TransactionalLog
from tests.storage.kafka_wrote import files
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.maven, pytest.mark.slow]

OURS = 1
COORDINATOR_PARTITIONS = 50  # Kafka's default, and ours
# See TransactionalLog.write: what is committed below the transaction that stays open.
COMMITTED = [b"value %d" % each for each in (0, 1, *range(4, 10), *range(18, 24), *range(30, 34))]


@pytest.fixture
def properties(kafka_programs: KafkaPrograms, cluster: Cluster) -> dict[str, object]:
    return joining_properties(kafka_programs, cluster)


def let_kafka_coordinate(servers: str) -> None:
    """Before anybody asks for a coordinator, which makes the topic on brokers of either kind. It
    has the partitions that each broker presumes since its start.
    """
    everywhere = [[KAFKA_ID]] * COORDINATOR_PARTITIONS
    create(
        servers,
        NewTopic("__transaction_state", COORDINATOR_PARTITIONS, replica_assignment=everywhere),
    )


def wait_until_committed(servers: str) -> None:
    """The coordinator's markers follow its answers."""
    wait_for(
        "what was committed",
        lambda: read_to_end(servers, TOPIC, 0, "read_committed"),
        lambda found: found == COMMITTED,
    )


def written(folder: Path) -> tuple[bytes, bytes]:
    """Records, and the index of aborted transactions, of a partition."""
    log, aborted = (b"".join(files(folder, each).values()) for each in (".log", ".txnindex"))
    return log, aborted


def test_a_log_led_by_ours_is_kafkas_to_the_byte(
    kafka_programs: KafkaPrograms, cluster: Cluster, properties: dict[str, object]
) -> None:
    servers = cluster.bootstrap_servers
    with registered_kafka(kafka_programs, properties, cluster):
        let_kafka_coordinate(servers)
        TransactionalLog(servers).write(replicas=(OURS, KAFKA_ID))
        assert cluster.leader(TOPIC, 0) == OURS
        wait_until_committed(servers)
        ours = cluster.layout.data_of(OURS) / f"{TOPIC}-0"
        kafkas = kafka_programs.folder / "data" / f"{TOPIC}-0"
        (records, aborted), _ = wait_for(
            "follower with the same records",
            lambda: (written(ours), written(kafkas)),
            lambda found: found[0] == found[1],
        )
        assert len(records) > 3_000
        assert aborted
        cluster.wait_isr(TOPIC, 0, size=2, timeout=PATIENCE_S)
        with cluster.kill(OURS) as fault:
            assert cluster.wait_leader_change(TOPIC, 0, since=fault) == KAFKA_ID
            wait_until_committed(servers)
