"""Whatever happens to requests on their way, a client gets answers in the order of its requests.

kafka-python ends a connection whose answers come in another, and it does not send again what was
not refused: so everything arrives only if none did.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from kafka import KafkaConsumer, KafkaProducer

from logquake.cluster.api import Cluster
from tests.waiting import PATIENCE_S

VALUES = {b"%d" % number for number in range(300)}
TOPIC, CLIENT_ID = "ordered", "producer under test"
HURT: dict[str, Any] = {"client_id": CLIENT_ID, "rate": 0.2}


def test_requests_are_hurt_and_answers_keep_their_order(tmp_path: Path) -> None:
    with Cluster(brokers=1, links=True, data_dir=tmp_path / "cluster") as cluster:
        error = "NOT_LEADER_OR_FOLLOWER"
        with (
            closing(producer(cluster.bootstrap_servers)) as sender,
            cluster.inject("Produce", duplicate=True, seed=1, **HURT) as duplicate,
            cluster.inject("Produce", reorder=True, seed=2, **HURT) as reorder,
            cluster.inject("Produce", error=error, seed=3, **HURT) as failing,
            cluster.inject("Produce", delay_ms=1, of="response", seed=4, **HURT) as late,
        ):
            for future in [sender.send(TOPIC, value) for value in sorted(VALUES)]:
                future.get(PATIENCE_S)
            assert min(each.hits for each in (duplicate, reorder, failing, late)) > 0
        assert read(cluster.bootstrap_servers) == VALUES


def producer(bootstrap_servers: str) -> KafkaProducer:
    return KafkaProducer(
        bootstrap_servers=bootstrap_servers,
        client_id=CLIENT_ID,
        acks="all",
        batch_size=0,
        enable_idempotence=False,
        max_in_flight_requests_per_connection=5,
        retries=100,
        retry_backoff_ms=1,
    )


def read(bootstrap_servers: str) -> set[bytes]:
    """Until all are there: a test's time ends it otherwise."""
    found: set[bytes] = set()
    consumer = KafkaConsumer(
        TOPIC, bootstrap_servers=bootstrap_servers, auto_offset_reset="earliest", group_id=None
    )
    with closing(consumer):
        for message in consumer:
            found.add(message.value)
            if found >= VALUES:
                break
    return found
