"""What every broker of a cluster tells, each asked by itself."""

from __future__ import annotations

from contextlib import closing

from logquake.client import Admin
from logquake.client.errors import ClientError
from logquake.cluster.observing.broker_connections import BrokerConnections, dial_as
from logquake.cluster.observing.told import leaders_told
from tests.waiting import PATIENCE_S, wait_for


def wait_until_all_tell(servers: str, topic: str, partitions: int) -> None:
    """Until all that run know the topic with as many partitions, each with a leader."""
    dial = dial_as("tests", int(PATIENCE_S * 1000))
    with (
        Admin(bootstrap_servers=servers) as admin,
        closing(BrokerConnections(dial)) as connections,
    ):

        def told() -> dict[int, dict[str, list[int]]]:
            return leaders_told(admin.describe_cluster().result().nodes, connections, [topic])

        def all_led(told: dict[int, dict[str, list[int]]]) -> bool:
            leaders = [each[topic] for each in told.values()]
            return all(len(each) == partitions and min(each) >= 0 for each in leaders)

        wait_for(f"leaders of {topic} told by all", told, all_led, unready=(ClientError,))
