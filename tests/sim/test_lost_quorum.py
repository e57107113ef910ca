"""Without a quorum of ZooKeeper's nothing is decided; with the next one nothing was."""

from __future__ import annotations

from tests.sim.cluster import PARTITION, REPLICAS, Cluster
from tests.sim.settings import SESSION_TIMEOUT_MS
from tests.sim.world import hosted_controller

STEADY_US = 3_000_000
SETTLED_US = 1_000_000
LOST_FOR_US = 2 * SESSION_TIMEOUT_MS * 1_000


def in_office(cluster: Cluster) -> list[int]:
    hosted = ((broker, hosted_controller(one)) for broker, one in cluster.machines.items())
    return [broker for broker, one in hosted if one is not None and one.is_active]


def test_who_led_leads_on_without_a_quorum_and_after_it() -> None:
    cluster = Cluster({}, first=2)
    partitions = cluster.world.decisions.partitions
    cluster.run_until(
        lambda: (
            PARTITION in partitions
            and (state := partitions[PARTITION].state) is not None
            and set(state.isr) == set(REPLICAS)
        )
    )
    cluster.run_until_us(STEADY_US)
    decided, controllers = partitions[PARTITION].version, in_office(cluster)
    for machine in cluster.machines.values():
        machine.lose_quorum()
    cluster.run_until_us(STEADY_US + LOST_FOR_US)
    assert cluster.world.leads(1, PARTITION)
    assert in_office(cluster) == controllers == [2]
    sessions = [machine.session_id for machine in cluster.machines.values()]
    for machine in cluster.machines.values():
        machine.heal_zookeeper()
    cluster.run_until_us(STEADY_US + LOST_FOR_US + SETTLED_US)
    assert [machine.session_id for machine in cluster.machines.values()] == sessions
    assert cluster.world.leads(1, PARTITION)
    assert in_office(cluster) == [2]
    assert partitions[PARTITION].version == decided
