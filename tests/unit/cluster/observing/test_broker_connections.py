"""A connection to each broker that is asked by itself."""

from __future__ import annotations

import pytest

from logquake.client.errors import ConnectionLostError, UnsupportedVersionError
from logquake.client.settings import Address
from logquake.cluster.observing.broker_connections import BrokerConnections
from logquake.wire.api import ApiKey
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from tests.unit.client.cluster_in_memory import FakeClock, FakeNetwork, FakeTopology, all_versions

ONE, TWO = Address("one", 9092), Address("two", 9092)
QUESTION = MetadataRequest(topics=[])


@pytest.fixture
def network() -> FakeNetwork:
    network = FakeNetwork(FakeClock())
    network.handlers[ApiKey.API_VERSIONS] = lambda *_: all_versions()
    network.handlers[ApiKey.METADATA] = FakeTopology().metadata
    return network


def places(network: FakeNetwork) -> list[Address]:
    return [socket.address for socket in network.sockets]


def test_each_is_kept_while_its_broker_answers(network: FakeNetwork) -> None:
    connections = BrokerConnections(network.dial)
    for address in (ONE, TWO, ONE, TWO):
        connections.ask(address, QUESTION, MetadataResponse)
    assert places(network) == [ONE, TWO]
    connections.close()
    assert all(socket.closed for socket in network.sockets)


def test_after_a_failure_the_next_question_is_asked_on_another_one(network: FakeNetwork) -> None:
    answer = network.handlers[ApiKey.METADATA]
    network.handlers[ApiKey.METADATA] = lambda *_: ConnectionResetError("reset")
    connections = BrokerConnections(network.dial)
    with pytest.raises(ConnectionLostError, match="reset"):
        connections.ask(ONE, QUESTION, MetadataResponse)
    network.handlers[ApiKey.METADATA] = answer
    connections.ask(ONE, QUESTION, MetadataResponse)
    assert places(network) == [ONE, ONE]
    connections.close()


def test_who_is_not_there_may_come(network: FakeNetwork) -> None:
    network.refused.add(ONE)
    connections = BrokerConnections(network.dial)
    with pytest.raises(ConnectionLostError):
        connections.ask(ONE, QUESTION, MetadataResponse)
    network.refused.clear()
    assert connections.ask(ONE, QUESTION, MetadataResponse).brokers
    connections.close()


def test_a_version_that_is_too_high_is_not_spoken(network: FakeNetwork) -> None:
    connections = BrokerConnections(network.dial)
    connections.ask(ONE, QUESTION, MetadataResponse, at_most=9)
    assert network.headers[-1].api_version == 9
    with pytest.raises(UnsupportedVersionError):
        connections.ask(ONE, QUESTION, MetadataResponse, at_most=-1)
    connections.close()
