"""A client, and the cluster in memory that it talks to."""

from __future__ import annotations

import pytest

from logquake.client.network.settings import NetworkSettings
from logquake.wire.api import ApiKey
from tests.unit.client.cluster_in_memory import FakeClock, FakeNetwork, FakeTopology, all_versions


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def topology() -> FakeTopology:
    return FakeTopology()


@pytest.fixture
def network(clock: FakeClock, topology: FakeTopology) -> FakeNetwork:
    network = FakeNetwork(clock)
    network.handlers[ApiKey.API_VERSIONS] = lambda *_: all_versions()
    network.handlers[ApiKey.METADATA] = topology.metadata
    return network


@pytest.fixture
def settings() -> NetworkSettings:
    return NetworkSettings(request_timeout_ms=1000)
