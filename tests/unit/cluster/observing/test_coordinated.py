"""What brokers coordinate, each asked by itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from logquake.client.settings import Address
from logquake.cluster.observing.broker_connections import BrokerConnections
from logquake.cluster.observing.coordinated import told_by
from logquake.cluster.observing.groups import ListedGroup
from logquake.wire.api import ApiKey
from logquake.wire.messages.group_admin import ListedGroup as Told
from logquake.wire.messages.group_admin import ListGroupsResponse
from logquake.wire.messages.transaction_admin import ListTransactionsResponse
from tests.unit.client.cluster_in_memory import FakeClock, FakeNetwork, all_versions

ONE, TWO = Address("one", 9092), Address("two", 9092)


@pytest.fixture
def network() -> FakeNetwork:
    network = FakeNetwork(FakeClock())
    connect = Told(group_id="workers", protocol_type="connect", group_state="Stable")
    network.handlers[ApiKey.API_VERSIONS] = lambda *_: all_versions()
    network.handlers[ApiKey.LIST_GROUPS] = lambda *_: ListGroupsResponse(groups=[connect])
    network.handlers[ApiKey.LIST_TRANSACTIONS] = lambda *_: ListTransactionsResponse()
    return network


@pytest.fixture
def connections(network: FakeNetwork) -> Iterator[BrokerConnections]:
    connections = BrokerConnections(network.dial)
    yield connections
    connections.close()


def test_what_one_broker_does_not_tell_hides_nothing_of_the_others(
    network: FakeNetwork, connections: BrokerConnections
) -> None:
    network.refused.add(ONE)
    found = told_by({1: ONE, 2: TWO}, connections)
    assert found.groups == [ListedGroup("workers", "connect", "Stable", 2)]
    (why,) = found.unknown
    assert why.startswith("what broker 1 coordinates: ")


def test_nobody_but_those_that_run_is_asked(
    network: FakeNetwork, connections: BrokerConnections
) -> None:
    assert not told_by({2: TWO}, connections).unknown
    assert {socket.address for socket in network.sockets} == {TWO}
