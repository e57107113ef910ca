"""Coordinators' topics are made, refused, told and deleted as by a Kafka 3.9.

Each has a cluster of its own.

One broker cannot hold the three replicas that the offsets topic is to have; the transactions' topic
fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import methodcaller
from pathlib import Path
from typing import Any

import pytest

from logquake.cluster.api import Cluster
from logquake.wire.errors import error_name
from logquake.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.twins import Twin, both, twins_of
from tests.waiting import wait_for

pytestmark = [pytest.mark.maven, pytest.mark.slow]

OFFSETS, TRANSACTIONS = "__consumer_offsets", "__transaction_state"
GROUP, TRANSACTION = 0, 1
Twins = tuple["Lone", "Lone"]


class Lone(Twin):
    def topics(self, *names: str) -> list[tuple[str | None, str, bool, int]]:
        """Name, error, whether internal, number of partitions: of each topic."""
        return sorted(
            (each.name, error_name(each.error_code), each.is_internal, len(each.partitions))
            for each in self.metadata(*names).topics
        )

    def wait_for_leaders(self, *names: str) -> None:
        wait_for(
            f"leaders of {names}",
            lambda: [(name, error) for name, error, _, _ in self.topics(*names)],
            lambda told: all(error == "NONE" for _, error in told),
        )

    def coordinator(self, key_type: int, key: str, version: int) -> Any:
        """Error, message, node, of a key."""
        keys: dict[str, Any] = {"key": key} if version < 4 else {"coordinator_keys": [key]}
        request = FindCoordinatorRequest(key_type=key_type, **keys)
        answer = self.ask(request, FindCoordinatorResponse, version)
        found = answer if version < 4 else answer.coordinators[0]
        return error_name(found.error_code), found.error_message, found.node_id, found.host

    def config_of(self, topic: str) -> bytes:
        return self.znode(f"/config/topics/{topic}")


PROPERTIES = {
    "num.partitions": 2,
    "logquake.auto.create.max.wait.ms": 60_000,  # the controller's word comes, however late
    "offsets.topic.segment.bytes": 7_000_000,
    "transaction.state.log.num.partitions": 5,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "transaction.state.log.segment.bytes": 5_000_000,
}


@pytest.fixture
def twins(kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path: Path) -> Iterator[Twins]:
    zookeeper = cluster.zookeeper_connect
    with twins_of(Lone, kafka_programs, zookeeper, tmp_path, PROPERTIES) as twins:
        yield twins


def test_both_do_the_same(twins: Twins) -> None:
    """One start of Kafka serves all that is compared."""
    names = [OFFSETS, TRANSACTIONS, "__share_group_state", "user"]
    asked = both(twins, lambda broker: broker.topics(*names))
    assert asked == [
        (OFFSETS, "INVALID_REPLICATION_FACTOR", True, 0),
        ("__share_group_state", "LEADER_NOT_AVAILABLE", True, 0),
        (TRANSACTIONS, "LEADER_NOT_AVAILABLE", True, 0),
        ("user", "LEADER_NOT_AVAILABLE", False, 0),
    ]
    for each in twins:
        each.wait_for_leaders(*names[1:])
    both(twins, lambda broker: broker.topics(*names[1:]))
    both(twins, lambda broker: broker.config_of(TRANSACTIONS))
    for version in range(1, 7):
        for key in ("tx-1", "", "grüße", "polygenelubricants"):
            found = both(twins, methodcaller("coordinator", TRANSACTION, key, version))
            assert (found[0], found[2]) == ("NONE", 1)
    for version in range(7):
        found = both(twins, methodcaller("coordinator", GROUP, "g", version))
        assert (found[0], found[2]) == ("COORDINATOR_NOT_AVAILABLE", -1)
    assert both(twins, lambda broker: broker.create("__cluster_metadata"))[0] == "INVALID_REQUEST"
    assert both(twins, lambda broker: broker.create(TRANSACTIONS))[0] == "TOPIC_ALREADY_EXISTS"
    assert both(twins, lambda broker: broker.create(OFFSETS, 3)) == ("NONE", None)
    both(twins, lambda broker: broker.config_of(OFFSETS))
    assert both(twins, lambda broker: broker.delete(TRANSACTIONS)) == "NONE"
