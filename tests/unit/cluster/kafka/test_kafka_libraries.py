from __future__ import annotations

from pathlib import Path

import pytest

from logquake.cluster.errors import ClusterError
from logquake.cluster.kafka.broker import broker_command, without_our_own
from logquake.cluster.kafka.libraries import VARIABLE, find_libraries
from logquake.cluster.processes.java import Java
from logquake.cluster.spec import ClusterSpec


def test_a_folder_of_jars_or_a_distribution_will_do(tmp_path: Path) -> None:
    libs = tmp_path / "kafka_2.13-3.9.1" / "libs"
    libs.mkdir(parents=True)
    (libs / "kafka_2.13-3.9.1.jar").touch()
    assert find_libraries(libs, {}) == libs
    assert find_libraries(environment={VARIABLE: str(libs.parent)}) == libs


def test_without_kafka_it_is_said_where_it_comes_from(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="Maven Central"):
        find_libraries(environment={})
    (tmp_path / "kafka_2.13-4.1.0.jar").touch()  # which has no ZooKeeper mode
    with pytest.raises(ClusterError, match="no Apache Kafka 3 in"):
        find_libraries(tmp_path, {})


def test_the_heap_is_small_unless_kafkas_own_variable_says_otherwise(tmp_path: Path) -> None:
    def heap(environment: dict[str, str]) -> str:
        java = Java(tmp_path / "java", 17)
        properties, log4j = tmp_path / "server.properties", tmp_path / "log4j.properties"
        command = broker_command(java, tmp_path, properties, log4j, environment=environment)
        return next(word for word in command if word.startswith("-Xmx"))

    assert heap({}) == "-Xmx512m"
    assert heap({"KAFKA_HEAP_OPTS": "-Xms1g -Xmx1g"}) == "-Xmx1g"


def test_settings_of_our_own_are_not_kafkas() -> None:
    properties = {"broker.id": "1", "logquake.failover.on.refusal": "true"}
    assert without_our_own(properties) == {"broker.id": "1"}


def test_what_apache_kafka_cannot_be_asked_for_is_refused() -> None:
    with pytest.raises(ClusterError, match="--faults"):
        ClusterSpec(kafka="/libs", faults=True)
    with pytest.raises(ClusterError, match="--secure"):
        ClusterSpec(kafka="/libs", links=True, secure=True)
