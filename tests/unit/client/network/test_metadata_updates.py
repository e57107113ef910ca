"""Whom a client asks about its cluster, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import pytest

from logquake.client.driving.blocking import BlockingDriver
from logquake.client.errors import UnsupportedVersionError
from logquake.client.network.links import Links
from logquake.client.network.metadata import Metadata, MetadataSettings
from logquake.client.network.metadata_updates import MetadataUpdates
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.settings import NetworkSettings
from logquake.client.settings import Address
from logquake.wire.api import ApiKey
from logquake.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from tests.unit.client.cluster_in_memory import FakeClock, FakeNetwork

LATE_MS = 60_000
LEARNED = {Address("one", 9092), Address("two", 9092)}


@dataclass
class Client:
    """A core without anybody on top of it."""

    clock: FakeClock
    metadata: Metadata
    updates: MetadataUpdates
    driver: BlockingDriver

    def run_until_answered(self, answers: int) -> bool:
        deadline_ms = self.clock.now + LATE_MS
        return self.driver.run(self.updates, lambda: self.metadata.updates >= answers, deadline_ms)

    def know(self) -> set[int]:
        return {node.id for node in self.metadata.nodes()}


def client_of(clock: FakeClock, network: FakeNetwork, settings: MetadataSettings) -> Client:
    random = Random(1)
    metadata = Metadata(settings, [("boot", 1), ("boot", 2)], random)
    links = Links(NetworkSettings(), random, on_ended=metadata.request_update)
    core = NetworkClient(NetworkSettings(), links, metadata, random)
    updates = MetadataUpdates(settings, core, metadata)
    return Client(clock, metadata, updates, BlockingDriver(links, network.new_sockets(), clock))


@pytest.fixture
def client(clock: FakeClock, network: FakeNetwork) -> Client:
    return client_of(clock, network, MetadataSettings())


def test_whoever_was_configured_is_asked_and_then_whoever_is_known(
    client: Client, network: FakeNetwork
) -> None:
    assert client.run_until_answered(1)
    assert client.know() == {1, 2}
    client.metadata.request_update()
    assert client.run_until_answered(2)
    assert {socket.address.host for socket in network.sockets} > {"boot"}


def test_it_is_asked_again_by_age(client: Client, clock: FakeClock) -> None:
    assert client.run_until_answered(1)
    clock.now += MetadataSettings().max_age_ms
    assert client.run_until_answered(2)


def test_the_configured_brokers_are_gone_back_to_when_no_other_can_be_reached(
    client: Client, network: FakeNetwork
) -> None:
    """KIP-899."""
    assert client.run_until_answered(1)
    network.refused |= LEARNED
    client.metadata.request_update()
    assert client.run_until_answered(2)
    assert network.sockets[-1].address.host == "boot"


def test_but_not_where_that_is_not_wanted(clock: FakeClock, network: FakeNetwork) -> None:
    client = client_of(clock, network, MetadataSettings(rebootstraps=False))
    assert client.run_until_answered(1)
    network.refused |= LEARNED
    client.metadata.request_update()
    assert not client.run_until_answered(2)
    assert client.know() == {1, 2}


def test_a_broker_that_does_not_speak_of_metadata_is_told_of(
    client: Client, network: FakeNetwork
) -> None:
    spoken = [ApiVersion(api_key=ApiKey.METADATA, min_version=90, max_version=99)]
    network.handlers[ApiKey.API_VERSIONS] = lambda *_: ApiVersionsResponse(api_keys=spoken)
    client.driver.run(
        client.updates, lambda: client.updates.failure is not None, client.clock.now + LATE_MS
    )
    assert isinstance(client.updates.failure, UnsupportedVersionError)
    assert client.metadata.failures == 1
