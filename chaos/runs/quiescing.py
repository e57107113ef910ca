"""All is healed, the cluster is whole again, the programs have ended.

What is asked for at this point (invariant 25, live): within a bound there is a leader everywhere,
the ISR is all replicas, and what clients do succeeds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from logquake.chaos.runs.conductor import Conductor
from logquake.cluster.errors import ClusterError
from logquake.cluster.running.cluster import RunningCluster
from logquake.cluster.state import Phase
from logquake.wire.sentinels import NO_LEADER
from logquake.wire.topic_partition import TopicPartition

WHOLE_WITHIN_S = 120.0
LOOK_EVERY_S = 0.2


def heal_everything(kafka: RunningCluster, conductor: Conductor) -> list[str]:
    """What was broken by a fault, and what is down without one; what could not be mended."""
    left = [f"{one.fault} could not be undone" for one in conductor.heal_all()]
    with suppress(ClusterError):  # one that can't be undone was told above
        kafka.heal()
    state = kafka.state()
    for member in (*state.zookeepers, *state.brokers):
        try:
            if member.phase is Phase.PAUSED:
                kafka.resume(member.name)
            elif member.phase is Phase.ENDED:
                kafka.start(member.name, wait=False)
        except ClusterError as error:
            left.append(str(error).splitlines()[0])
    return left


def wait_until_whole(
    kafka: RunningCluster, tick: Callable[[], None], within_s: float = WHOLE_WITHIN_S
) -> list[str]:
    """Until every partition has a leader and its whole ISR; else what is missing, in words."""
    deadline = time.monotonic() + within_s
    while True:
        missing = _missing(kafka)
        if not missing or time.monotonic() > deadline:
            return missing
        tick()
        time.sleep(LOOK_EVERY_S)


def _missing(kafka: RunningCluster) -> list[str]:
    try:
        assigned = {
            TopicPartition(topic, partition): replicas
            for topic, assignment in kafka.view.assignments().items()
            for partition, replicas in assignment.partitions.items()
        }
        states = kafka.view.all_partitions()
    except ClusterError as error:
        return [str(error).splitlines()[0]]
    led = {one: state.isr for one, state in states.items() if state.leader != NO_LEADER}
    return [
        f"{one}: {_lack(led.get(one), replicas)}"
        for one, replicas in sorted(assigned.items())
        if set(led.get(one, ())) != set(replicas)
    ]


def _lack(isr: Sequence[int] | None, replicas: Sequence[int]) -> str:
    return "no leader" if isr is None else f"the ISR is {list(isr)}, of {list(replicas)}"
