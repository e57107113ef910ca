"""What clients are told by a broker that has just come back."""

from __future__ import annotations

from pathlib import Path
from time import monotonic

import pytest

from logquake.client.admin import Admin
from logquake.client.errors import ConnectionLostError
from logquake.client.routing import Router
from logquake.client.settings import ClientSettings
from logquake.cluster.api import Cluster
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)

BROKERS = 3
TOPIC = "orders"
TIMEOUT_S = 30.0


def ask(address: str) -> MetadataResponseTopic | None:
    """What this broker says of the topic; None when it ended the connection, or took none."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)])
    with Router(ClientSettings(address)) as router:
        try:
            return router.any_broker().request(request, MetadataResponse).topics[0]
        except ConnectionLostError:
            return None


@pytest.mark.timeout(120)
def test_restarted_broker_never_calls_an_existing_topic_unknown(tmp_path: Path) -> None:
    """Not even when the controller, which would tell it, stands still."""
    with Cluster(brokers=BROKERS, data_dir=tmp_path / "cluster") as kafka:
        with Router(ClientSettings(kafka.bootstrap_servers)) as router:
            Admin(router).create_topic(TOPIC, partitions=3, replication_factor=BROKERS)
        controller = kafka.controller()
        back = next(broker for broker in range(1, BROKERS + 1) if broker != controller)
        kafka.kill(back)
        kafka.wait_isr(TOPIC, 0, BROKERS - 1)
        kafka.pause(controller)
        kafka.start(back)
        address = next(m.address for m in kafka.state().members if m.broker_id == back)
        deadline = monotonic() + TIMEOUT_S
        while (answer := ask(address)) is None:
            assert monotonic() < deadline, "the restarted broker told nothing"
        assert answer.error_code == ErrorCode.NONE
        assert len(answer.partitions) == 3
        kafka.resume(controller)
        kafka.wait_isr(TOPIC, 0, BROKERS)
