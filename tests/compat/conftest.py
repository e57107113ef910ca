"""Each test that takes ``client`` runs with every client library.

Tests marked maven run Kafka's own programs: LOGQUAKE_KAFKA_LIBS names a folder with the jars of
Kafka 3.9 (kafka_2.13, kafka-tools, slf4j-reload4j and what they depend on, from Maven Central);
LOGQUAKE_KAFKA_4_LIBS one of 4.1, LOGQUAKE_KAFKA_2_LIBS one of 2.4 (tests/peers).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from logquake.cluster.api import Cluster
from tests.compat.adapters.aio import AioKafka
from tests.compat.adapters.base import CODECS, Adapter
from tests.compat.adapters.kafka_python import KafkaPython
from tests.compat.adapters.librdkafka import Librdkafka
from tests.compat.directory_in_turns import DirectoryInTurns, directory_in_turns
from tests.compat.kafka_programs import KafkaPrograms, programs_in
from tests.compat.lone_kafka import LoneKafka, lone_broker
from tests.compat.old_releases import OldReleases
from tests.leaks import leaks_are_its_own, threads_end_with_their_module

__all__ = ["leaks_are_its_own", "threads_end_with_their_module"]

LIBRARIES: list[type[Adapter]] = [Librdkafka, KafkaPython, AioKafka]


@pytest.fixture
def clients(cluster: Cluster) -> Iterator[list[Adapter]]:
    """One of each library; none has anything to complain of at the end."""
    made = [library(cluster.bootstrap_servers) for library in LIBRARIES]
    yield made
    assert [line for client in made for line in client.complaints()] == []


@pytest.fixture(params=range(len(LIBRARIES)), ids=[library.__name__ for library in LIBRARIES])
def client(request: pytest.FixtureRequest, clients: list[Adapter]) -> Adapter:
    index: int = request.param
    return clients[index]


@pytest.fixture(params=CODECS)
def codec(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def kafka_programs(tmp_path_factory: pytest.TempPathFactory) -> KafkaPrograms:
    return programs_in("LOGQUAKE_KAFKA_LIBS", tmp_path_factory.mktemp("kafka"))


@pytest.fixture(scope="session")
def old() -> OldReleases:
    libs, java = os.environ.get("LOGQUAKE_OLD_KAFKA_LIBS"), shutil.which("java")
    if not libs or java is None:
        pytest.skip("no java, or LOGQUAKE_OLD_KAFKA_LIBS names no folder with Kafka's releases")
    return OldReleases(java, Path(libs))


@pytest.fixture(scope="module")
def lone_kafka(kafka_programs: KafkaPrograms, cluster: Cluster) -> Iterator[LoneKafka]:
    """A real broker beside the cluster."""
    with lone_broker(kafka_programs, cluster.zookeeper_connect) as kafka:
        yield kafka


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """On two cores of this machine."""
    pytest.importorskip("pyspark", reason="the extra logquake[spark] is not installed")
    from logquake.pipeline.session import spark_session

    session = spark_session("logquake-tests", cores=2, short=True)
    yield session
    session.stop()


@pytest.fixture
def turns(kafka_programs: KafkaPrograms, tmp_path: Path) -> Iterator[DirectoryInTurns]:
    """Beside a ZooKeeper of their own."""
    with directory_in_turns(kafka_programs, tmp_path) as turns:
        yield turns
