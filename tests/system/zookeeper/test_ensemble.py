"""A cluster over three ZooKeeper servers that lose one another, and brokers that lose them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from logquake.cluster.api import Cluster
from logquake.cluster.errors import ClusterError
from logquake.zk.operations import Create
from logquake.zk.transaction_log.files import agreed, read_server
from logquake.zk.znodes.brokers import BrokerRegistration
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.usefixtures("leaks_are_its_own")

BROKERS = (1, 2, 3)
SERVERS = ("zookeeper-1", "zookeeper-2", "zookeeper-3")


@pytest.fixture(scope="module")
def kafka() -> Iterator[Cluster]:
    stay = {"auto.leader.rebalance.enable": False}
    with Cluster(brokers=3, zookeepers=3, links=True, config=stay) as kafka:
        kafka.create_topic("orders", partitions=3, replication_factor=3)
        yield kafka


def sessions(kafka: Cluster) -> dict[int, int | None]:
    return {broker: kafka.view.session_of(broker) for broker in BROKERS}


def events(kafka: Cluster, broker: int, what: str) -> int:
    lines = (kafka.layout.events / f"broker-{broker}.jsonl").read_text().splitlines()
    return sum(json.loads(line)["what"] == what for line in lines)


def test_its_servers_are_members_of_the_cluster(kafka: Cluster) -> None:
    state = kafka.state()
    assert tuple(server.name for server in state.zookeepers) == SERVERS
    assert state.zookeeper == ",".join(server.address for server in state.zookeepers)
    leader, follower = map(kafka.member_name, ("zookeeper-leader", "zookeeper-follower"))
    assert {leader, follower} < set(SERVERS)
    with pytest.raises(ClusterError, match="no zookeeper here: there are zookeeper-1"):
        kafka.kill("zookeeper")


def test_sessions_outlive_the_leader_of_the_ensemble(kafka: Cluster) -> None:
    before, epochs = sessions(kafka), kafka.leader_epochs()
    with kafka.kill("zookeeper-leader") as killed:
        leader = wait_for(
            "another leader of the ensemble",
            lambda: kafka.member_name("zookeeper-leader"),
            lambda leader: leader != killed.member,
            unready=(ClusterError,),
        )
        assert leader in SERVERS
        kafka.create_topic("made-meanwhile", timeout=PATIENCE_S)
    assert sessions(kafka) == before
    assert epochs.items() <= kafka.leader_epochs().items()


def test_a_leader_that_loses_its_followers_is_succeeded(kafka: Cluster) -> None:
    """Brokers see it all the while."""
    before, epochs = sessions(kafka), kafka.leader_epochs()
    lonely = kafka.member_name("zookeeper-leader")
    with kafka.cut(lonely, "zookeeper", both=True):
        wait_for(
            "another leader of the ensemble",
            lambda: kafka.member_name("zookeeper-leader"),
            lambda leader: leader != lonely,
            unready=(ClusterError,),
        )
        kafka.create_topic("made-without-it", timeout=PATIENCE_S)
        assert kafka.zookeepers_serving() == len(SERVERS) - 1
    wait_for("the ensemble", kafka.zookeepers_serving, lambda count: count == len(SERVERS))
    assert kafka.member_name("zookeeper-leader") != lonely
    assert sessions(kafka) == before
    assert epochs.items() <= kafka.leader_epochs().items()


def test_a_session_moves_from_server_to_server(kafka: Cluster) -> None:
    """Whichever serves it: each is lost in turn."""
    before, losses = sessions(kafka), events(kafka, 1, "zookeeper-disconnected")
    for server in SERVERS:
        kafka.reset("broker-1", server).heal()
    wait_for("a lost connection", lambda: events(kafka, 1, "zookeeper-disconnected") > losses)
    with kafka.cut("broker-1", "zookeeper-1,zookeeper-2", both=True):
        kafka.expire_session(1).heal()
    after = sessions(kafka)
    assert after.pop(1) != before.pop(1)
    assert after == before


def test_a_controller_whose_znode_is_deleted_is_succeeded(kafka: Cluster) -> None:
    elections = sum(events(kafka, broker, "controller-elected") for broker in BROKERS)
    with kafka.delete_controller():
        pass
    wait_for(
        "another term",
        lambda: sum(events(kafka, broker, "controller-elected") for broker in BROKERS),
        lambda count: count > elections,
    )


def test_what_was_written_is_in_the_logs_of_all_that_had_it(kafka: Cluster) -> None:
    """One server lags, or was away: what a majority knows counts, once."""
    with kafka.kill("zookeeper-follower"):
        kafka.create_topic("written-by-two", timeout=PATIENCE_S)
        logs = [list(read_server(kafka.layout.root / name / "data")) for name in SERVERS]
    written = agreed(logs)
    made = [
        write.path for applied in written for write in applied.writes if isinstance(write, Create)
    ]
    assert made.count("/brokers/topics/written-by-two") == 1
    assert {BrokerRegistration.path(broker) for broker in BROKERS} <= set(made)
    zxids = [applied.zxid for applied in written]
    assert zxids == sorted(set(zxids))
