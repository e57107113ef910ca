"""What brokers tell of topics, each asked by itself."""

from __future__ import annotations

from logquake.client.network.effects import Node
from logquake.cluster.observing.broker_connections import BrokerConnections
from logquake.cluster.observing.told import leaders_told
from logquake.wire.api import ApiKey
from tests.unit.client.cluster_in_memory import FakeClock, FakeNetwork, FakeTopology, all_versions


def test_each_broker_is_asked_once_for_all_topics() -> None:
    network = FakeNetwork(FakeClock())
    network.handlers[ApiKey.API_VERSIONS] = lambda *_: all_versions()
    network.handlers[ApiKey.METADATA] = FakeTopology().metadata
    brokers = [Node(1, "one", 9092), Node(2, "two", 9092)]
    connections = BrokerConnections(network.dial)
    told = leaders_told(brokers, connections, ["t", "none", "nothing"])
    connections.close()
    each = {"t": [1, 2], "none": [], "nothing": []}
    assert told == {1: each, 2: each}
    asked = [request.topics for request in network.requests[ApiKey.METADATA] if request.topics]
    assert [[topic.name for topic in topics] for topics in asked] == [["none", "nothing", "t"]] * 2
