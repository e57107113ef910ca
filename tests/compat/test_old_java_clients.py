"""Kafka's own producers and consumers from before 0.11: Scala's, Java's, and their message sets.

LOGQUAKE_OLD_KAFKA_LIBS names a folder with a folder of jars for each release; see
tests/peers/old-clients.xml. Java's consumer, which the broker coordinates, is not among them yet.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from logquake.cluster.api import Cluster
from tests.compat.old_releases import OldReleases
from tests.compat.sessions import LONG_MS

pytestmark = [pytest.mark.maven, pytest.mark.slow]

RELEASES = ("0.8.2.2", "0.9.0.1", "0.10.0.1", "0.10.2.2")
WAITS = ("session", "connection")
CODECS = ("none", "gzip", "snappy", "lz4")
LINES = [f"line {number}" for number in range(300)]


def produce(old: OldReleases, cluster: Cluster, release: str, topic: str, codec: str) -> None:
    old.run(
        release,
        "kafka.tools.ConsoleProducer",
        *("--broker-list", cluster.bootstrap_servers, "--topic", topic),
        *("--compression-codec", codec, "--request-required-acks", "-1"),
        stdin="".join(f"{line}\n" for line in LINES),
    )


def consume(old: OldReleases, cluster: Cluster, release: str, topic: str) -> list[str]:
    """By the consumer that names its partition itself; it prints what each fetch brought, too."""
    said = old.run(
        release,
        "kafka.tools.SimpleConsumerShell",
        *("--broker-list", cluster.bootstrap_servers, "--topic", topic, "--partition", "0"),
        *("--offset", "-2", "--max-messages", str(len(LINES)), "--no-wait-at-logend"),
    )
    return [line for line in said.splitlines() if line.startswith("line ")]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("codec", CODECS)
def test_reads_what_it_wrote(
    old: OldReleases, cluster: Cluster, topic: Callable[..., str], release: str, codec: str
) -> None:
    name = topic()
    produce(old, cluster, release, name, codec)
    assert consume(old, cluster, release, name) == LINES


@pytest.mark.parametrize("release", RELEASES)
def test_reads_what_the_newest_of_them_wrote(
    old: OldReleases, cluster: Cluster, topic: Callable[..., str], release: str
) -> None:
    name = topic()
    produce(old, cluster, RELEASES[-1], name, "snappy")
    assert consume(old, cluster, release, name) == LINES


@pytest.mark.parametrize("release", RELEASES)
def test_a_group_that_zookeeper_coordinates_reads_all(
    old: OldReleases, cluster: Cluster, topic: Callable[..., str], release: str, tmp_path: Path
) -> None:
    """Scala's consumer finds brokers, and its share of the partitions, in ZooKeeper."""
    patient = tmp_path / "consumer.properties"
    patient.write_text("".join(f"zookeeper.{each}.timeout.ms={LONG_MS}\n" for each in WAITS))
    name = topic(partitions=3)
    produce(old, cluster, release, name, "gzip")
    said = old.run(
        release,
        "kafka.tools.ConsoleConsumer",
        *("--zookeeper", cluster.zookeeper_connect, "--topic", name, "--from-beginning"),
        *("--max-messages", str(len(LINES)), "--consumer.config", str(patient)),
    )
    assert sorted(said.splitlines()) == sorted(LINES)
