"""Each test that takes ``client`` runs with every client library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.compat.adapters.aio import AioKafka
from tests.compat.adapters.base import CODECS, Adapter
from tests.compat.adapters.kafka_python import KafkaPython
from tests.compat.adapters.librdkafka import Librdkafka

LIBRARIES: list[type[Adapter]] = [Librdkafka, KafkaPython, AioKafka]


@pytest.fixture
def clients(cluster: Any) -> Iterator[list[Adapter]]:
    """One of each library; none has anything to complain of at the end."""
    made = [library(cluster.bootstrap_servers) for library in LIBRARIES]
    yield made
    assert [line for client in made for line in client.complaints()] == []


@pytest.fixture(params=range(len(LIBRARIES)), ids=[library.__name__ for library in LIBRARIES])
def client(request: pytest.FixtureRequest, clients: list[Adapter]) -> Adapter:
    return clients[request.param]


@pytest.fixture(params=CODECS)
def codec(request: pytest.FixtureRequest, client: Adapter) -> str:
    if request.param not in client.codecs:
        pytest.skip(f"{type(client).__name__} lacks {request.param} here")
    return str(request.param)
