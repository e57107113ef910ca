"""The clients' network core in the simulated cluster: it finds who leads, whatever happens."""

from __future__ import annotations

from random import Random

import pytest

from logquake.client.network.effects import Node
from logquake.client.network.link import Answer, ClientRequest, Serving
from logquake.client.network.links import Links
from logquake.client.network.metadata import Metadata, MetadataSettings
from logquake.client.network.metadata_updates import MetadataUpdates
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.settings import NetworkSettings
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from logquake.wire.sentinels import LATEST_TIMESTAMP
from tests.sim.client_driver import SimDriver
from tests.sim.cluster import PARTITION, REPLICAS, Cluster
from tests.sim.host import Host, HostScheduler
from tests.sim.settings import PORT

LEADER = 1
ROUND_MS = 100
SETTINGS = NetworkSettings(client_id="asker", request_timeout_ms=700)


class Asker:
    """Asks the leader for the end of its log, every now and then. ``answered_by`` who did."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        host, random = Host("asker", cluster.clock), Random(seed)
        metadata_settings = MetadataSettings()
        bootstrap = [(machine.endpoint.host, PORT) for machine in cluster.machines.values()]
        self.metadata = Metadata(metadata_settings, bootstrap, random)
        links = Links(SETTINGS, random, on_ended=self.metadata.request_update)
        self.network = NetworkClient(SETTINGS, links, self.metadata, random)
        updates = MetadataUpdates(metadata_settings, self.network, self.metadata)
        self.driver = SimDriver(cluster.fabric, host, links, updates)
        self.answered_by: list[int] = []
        self._scheduler = HostScheduler(host)
        self._round()

    def _round(self) -> None:
        now_ms = self.driver.now_ms()
        self.metadata.use(PARTITION.topic, now_ms)
        info = self.metadata.snapshot.partition(PARTITION)
        if info is None or info.leader < 0:
            self.metadata.request_update()
        elif self.network.ready(info.leader, now_ms):
            self._ask(info.leader, info.leader_epoch)
        self.driver.go_on()
        self._scheduler.call_later(ROUND_MS, self._round)

    def _ask(self, leader: int, epoch: int) -> None:
        asked = ListOffsetsPartition(
            partition_index=PARTITION.partition,
            current_leader_epoch=epoch,
            timestamp=LATEST_TIMESTAMP,
        )
        request = ListOffsetsRequest(
            topics=[ListOffsetsTopic(name=PARTITION.topic, partitions=[asked])]
        )

        def done(answer: Answer) -> None:
            if not isinstance(answer, ListOffsetsResponse):
                return
            (told,) = answer.topics[0].partitions
            if told.error_code == ErrorCode.NONE:
                self.answered_by.append(leader)
            else:
                self.metadata.request_update()

        version = self.network.version_of(leader, ListOffsetsRequest)
        sent = ClientRequest(request, version, ListOffsetsResponse, done)
        self.network.send(leader, sent, self.driver.now_ms())


@pytest.fixture(params=range(4))
def cluster(request: pytest.FixtureRequest) -> Cluster:
    return Cluster({}, seed=request.param)


@pytest.fixture
def asker(cluster: Cluster) -> Asker:
    """It has been answered by the leader, and all replicas are in sync."""
    asker = Asker(cluster, 1)
    cluster.run_until(lambda: LEADER in asker.answered_by and is_in_sync(cluster))
    return asker


def is_in_sync(cluster: Cluster) -> bool:
    state = cluster.world.decisions.partitions[PARTITION].state
    return state is not None and set(state.isr) == set(REPLICAS)


def follows(cluster: Cluster, asker: Asker) -> None:
    cluster.run_until(lambda: asker.answered_by[-1] != LEADER)
    assert cluster.world.leads(asker.answered_by[-1], PARTITION)


def test_it_follows_when_the_leader_dies(cluster: Cluster, asker: Asker) -> None:
    cluster.machines[LEADER].kill()
    follows(cluster, asker)


def test_it_follows_when_the_leader_freezes(cluster: Cluster, asker: Asker) -> None:
    cluster.machines[LEADER].pause()
    follows(cluster, asker)


def test_it_comes_back_when_all_brokers_were_gone(cluster: Cluster, asker: Asker) -> None:
    for machine in cluster.machines.values():
        machine.kill()
    cluster.run_until_us(cluster.clock.now_us + 5_000_000)
    assert {node.id for node in asker.metadata.nodes()} == {-1, -2, -3}
    answers = len(asker.answered_by)
    for machine in cluster.machines.values():
        machine.start()
    cluster.run_until(lambda: len(asker.answered_by) > answers)


def test_it_comes_back_to_a_leader_that_it_could_not_reach(cluster: Cluster, asker: Asker) -> None:
    for ends in (("asker", "b1"), ("b1", "asker")):
        cluster.fabric.cut(*ends)
    cluster.run_until_us(cluster.clock.now_us + 5_000_000)
    answers = len(asker.answered_by)
    for ends in (("asker", "b1"), ("b1", "asker")):
        cluster.fabric.heal(*ends)
    cluster.run_until(lambda: len(asker.answered_by) > answers)
    assert asker.answered_by[-1] == LEADER


@pytest.mark.usefixtures("asker")  # the brokers serve
def test_a_client_that_was_paused_hears_what_came_before_it_gives_anybody_up(
    cluster: Cluster,
) -> None:
    host, links = Host("sleeper", cluster.clock), Links(SETTINGS, Random(1))
    driver = SimDriver(cluster.fabric, host, links, links)
    for node_id, machine in cluster.machines.items():
        links.begin(Node(node_id, machine.endpoint.host, PORT), driver.now_ms())
    driver.go_on()
    host.pause()
    cluster.run_until_us(cluster.clock.now_us + 2_000 * SETTINGS.request_timeout_ms)
    host.resume()
    cluster.run_until_us(cluster.clock.now_us + 1)
    found = [links.states.link(node_id) for node_id in cluster.machines]
    assert all(link is not None and isinstance(link.stage, Serving) for link in found)
