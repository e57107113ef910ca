from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from orders.relay import CarefulRelay, HastyRelay
from orders.shop import Shop

from logquake.cluster.api import Cluster

RELAYS = {"hasty": HastyRelay, "careful": CarefulRelay}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--relay", choices=list(RELAYS), default="hasty")


@pytest.fixture(scope="session")
def logquake_options() -> dict[str, Any]:
    """Kafka's own time-outs, as in production; links and disks that can be broken."""
    return {"preset": "kafka_defaults", "links": True}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    shop = Shop(tmp_path / "shop.db")
    yield shop
    shop.close()


@pytest.fixture
def relay(
    request: pytest.FixtureRequest, shop: Shop, logquake: Cluster, topic: str
) -> HastyRelay | CarefulRelay:
    kind = RELAYS[request.config.getoption("--relay")]
    return kind(shop, logquake.client_config(), topic)
