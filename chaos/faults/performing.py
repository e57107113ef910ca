"""A value to what is done to a cluster, and how it is undone.

Nearly every kind is a deed of RunningCluster's of the same name, whose arguments are the value's
fields: DEEDS is the table. OWN has the kinds that are something else, or take them otherwise.
Undoing never waits until the cluster is well again: other faults may last, and the run's end waits
for all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from logquake.chaos.faults.clients import KillClient, PauseClient
from logquake.chaos.faults.links import Partition
from logquake.chaos.faults.machines import PowerLoss
from logquake.chaos.faults.membership import AddBroker
from logquake.chaos.faults.processes import Restart, RestartStorm
from logquake.chaos.faults.value import FaultValue
from logquake.chaos.faults.zookeeper import KillZooKeeper, PauseZooKeeper
from logquake.cluster.errors import ClusterError
from logquake.cluster.running.cluster import RunningCluster
from logquake.cluster.running.deeds import DEEDS
from logquake.cluster.running.fault import Fault
from logquake.cluster.running.injected import Injected
from logquake.cluster.state import Phase

# A broker without a log directory that works, without memory or descriptors, gives up.
MAY_END_A_BROKER = frozenset(
    {"disk-full", "disk-error", "read-only-disk", "lose-log-dir", "memory-limit", "file-limit"}
)


class CannotBeDoneError(ClusterError):
    """Nothing here performs such a fault."""


class Clients(Protocol):
    """The programs that use the cluster, by their names. Raises ClusterError for another name."""

    def pause(self, name: str) -> None: ...
    def resume(self, name: str) -> None: ...
    def kill(self, name: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Stage:
    """What a fault may be done to."""

    cluster: RunningCluster
    clients: Clients


@dataclass(frozen=True, slots=True)
class Performed:
    """``subject`` is who was meant at that moment; ``undo`` may be called more than once. ``hits``
    says how many requests one of requests has met; others meet none.
    """

    subject: str
    undo: Callable[[], None]
    hits: Callable[[], int] = lambda: 0


def can_be_done(kind: str) -> bool:
    return kind in OWN or _deed_name(kind) in DEEDS


def perform(fault: FaultValue, stage: Stage) -> Performed:
    """Do it; returns when it is done.

    Raises CannotBeDoneError, and ClusterError where this cluster refuses: it has no links, say, or
    nobody holds the office that was aimed at.
    """
    own = OWN.get(fault.kind)
    if own is not None:
        return own(stage, fault)
    deed = DEEDS.get(_deed_name(fault.kind))
    if deed is None:
        raise CannotBeDoneError(f"{fault.kind} cannot be done here yet: leave it out")
    done = deed(stage.cluster, **{name: value for name, value in fault if name != "kind"})
    if not isinstance(done, Fault):
        return Performed(str(done), _nothing)
    heal = partial(done.heal, wait=False)
    if fault.kind in MAY_END_A_BROKER:
        return Performed(done.member, partial(_heal_and_start, stage.cluster, done.member, heal))
    if isinstance(done, Injected):
        return Performed(done.member, heal, lambda: done.hits)
    return Performed(done.member, heal)


def _deed_name(kind: str) -> str:
    return kind.replace("-", "_")


def _nothing() -> None: ...


def _partitioned(stage: Stage, fault: Partition) -> Performed:
    done = stage.cluster.partition(*fault.groups)
    return Performed(done.member, partial(done.heal, wait=False))


def _powerless(stage: Stage, fault: PowerLoss) -> Performed:
    lost = stage.cluster.power_loss(*fault.target.split(","), unsynced=fault.unsynced)
    return Performed(lost.member, partial(lost.heal, wait=False))


def _restarted(stage: Stage, fault: Restart) -> Performed:
    stopped = stage.cluster.stop(fault.target)
    stopped.heal(wait=False)
    return Performed(stopped.member, partial(_start_again, stage.cluster, stopped.member))


def _stormed(stage: Stage, fault: RestartStorm) -> Performed:
    """Restarts follow one another here: who performs it in a thread of its own has overlaps."""
    member = stage.cluster.member_name(fault.target)
    for _ in range(fault.times):
        killed = stage.cluster.kill(member)
        time.sleep(fault.pause)
        killed.heal(wait=False)
        time.sleep(fault.pause)
    return Performed(member, partial(_start_again, stage.cluster, member))


def _added(stage: Stage, _fault: AddBroker) -> Performed:
    added = stage.cluster.add_broker(wait=False)
    return Performed(added.member, partial(added.heal, wait=False))


def _heal_and_start(cluster: RunningCluster, member: str, heal: Callable[[], None]) -> None:
    """One that ended by itself; who was killed meanwhile is started by whoever killed it."""
    heal()
    state = cluster.state().member(member)
    if state is not None and state.ended is not None and not state.ended.asked:
        _start_again(cluster, member)


def _start_again(cluster: RunningCluster, member: str) -> None:
    """Unless somebody has already."""
    state = cluster.state().member(member)
    if state is not None and state.phase is Phase.ENDED:
        with suppress(ClusterError):  # somebody else just did
            cluster.start(member, wait=False)


def _killed_zookeeper(stage: Stage, fault: KillZooKeeper) -> Performed:
    killed = stage.cluster.kill(fault.target)
    return Performed(killed.member, partial(killed.heal, wait=False))


def _paused_zookeeper(stage: Stage, fault: PauseZooKeeper) -> Performed:
    paused = stage.cluster.pause(fault.target)
    return Performed(paused.member, partial(paused.heal, wait=False))


def _paused_client(stage: Stage, fault: PauseClient) -> Performed:
    stage.clients.pause(fault.client)
    return Performed(fault.client, lambda: stage.clients.resume(fault.client))


def _killed_client(stage: Stage, fault: KillClient) -> Performed:
    stage.clients.kill(fault.client)
    return Performed(fault.client, _nothing)


OWN: Mapping[str, Callable[[Stage, Any], Performed]] = {
    "partition": _partitioned,
    "power-loss": _powerless,
    "add-broker": _added,
    "restart": _restarted,
    "restart-storm": _stormed,
    "kill-zookeeper": _killed_zookeeper,
    "pause-zookeeper": _paused_zookeeper,
    "pause-client": _paused_client,
    "kill-client": _killed_client,
}
