"""The power of all brokers goes at once: what was acked and not synced is gone, and no more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from logquake.client import Producer
from logquake.cluster.api import Cluster
from tests.log_contents import records_in, send_batch
from tests.system.conftest import CommandLine
from tests.waiting import PATIENCE_S

BROKERS = 3
SENT = 50


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(BROKERS, {"log.index.size.max.bytes": 65_536}, faults=True) as kafka:
        yield kafka


def fill(cluster: Cluster, topic: str, **config: object) -> None:
    """A topic with SENT acked records, each in a batch of its own."""
    cluster.create_topic(topic, partitions=1, replication_factor=BROKERS, config=config)
    with Producer(cluster.kafka_config()) as producer:
        for number in range(SENT):
            producer.send(topic, b"%d" % number, partition=0).result(PATIENCE_S)


def read(cluster: Cluster, topic: str) -> list[int]:
    cluster.wait_leader(topic, 0)
    return [int(record.value or b"-1") for record in records_in(cluster, topic)]


def test_acked_records_are_lost_unless_they_were_synced(cluster: Cluster) -> None:
    fill(cluster, "quick")
    fill(cluster, "sure", **{"flush.messages": 1})
    with cluster.power_loss() as lost:
        assert sorted(lost.taken_back) == [f"broker-{number}" for number in (1, 2, 3)]
        assert all(one.bytes > 0 for one in lost.taken_back.values())
    assert read(cluster, "quick") == []
    assert read(cluster, "sure") == list(range(SENT))
    send_batch(cluster, "quick", b"99")
    assert read(cluster, "quick") == [99]


def test_what_one_broker_loses_it_has_again_from_the_others(cluster: Cluster) -> None:
    fill(cluster, "mended")
    leader = cluster.leader("mended", 0)
    with cluster.power_loss(leader) as lost:
        assert cluster.wait_leader_change("mended", 0, since=lost) != leader
    cluster.wait_isr("mended", 0, BROKERS)
    assert read(cluster, "mended") == list(range(SENT))


@pytest.mark.parametrize("unsynced", ["journaled", "scattered"])
def test_what_is_left_by_chance_is_whole(cluster: Cluster, unsynced: str) -> None:
    """A beginning of what was sent: recovery cuts where a page is missing."""
    fill(cluster, unsynced)
    with cluster.power_loss(unsynced=unsynced, seed=5):
        pass
    found = read(cluster, unsynced)
    assert found == list(range(len(found)))


def test_power_goes_by_the_command_line_also_of_a_broker_that_is_dead(
    cluster: Cluster, logquake: CommandLine
) -> None:
    fill(cluster, "dead")
    where = ("--data-dir", str(cluster.layout.root))
    with cluster.kill(2):
        cluster.wait_isr("dead", 0, BROKERS - 1)
        said = logquake.ok("fault", "power-loss", "2", *where)
        assert said.startswith("broker-2: ")
        assert "files" in said
    cluster.wait_isr("dead", 0, BROKERS)
    assert "not all of zookeeper" in logquake.refused("fault", "power-loss", "zookeeper", *where)
