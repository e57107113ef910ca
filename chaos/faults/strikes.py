"""Faults on a running cluster that last until their effect is seen, then heal.

A strike picks its victim by role, waits until the cluster has noticed (a new leader, a smaller ISR,
another controller), and is undone at the end of its ``with`` block, which waits for the victim to
be back. Raises ClusterError, with the cluster's state, when the effect does not come in time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from logquake.cluster.running.cluster import RunningCluster
from logquake.cluster.running.waits import DEFAULT_TIMEOUT


@dataclass(frozen=True, slots=True)
class Target:
    """The partition whose leader or follower is struck."""

    topic: str
    partition: int


@contextmanager
def kill_leader(kafka: RunningCluster, target: Target) -> Iterator[None]:
    """kill -9 of the leader, until another one leads."""
    with kafka.kill(kafka.leader(target.topic, target.partition)) as fault:
        kafka.wait_leader_change(target.topic, target.partition, fault, DEFAULT_TIMEOUT)
        yield


@contextmanager
def kill_follower(kafka: RunningCluster, target: Target) -> Iterator[None]:
    """kill -9 of a member of the ISR that does not lead, until the ISR is without it."""
    isr = kafka.isr(target.topic, target.partition)
    leader = kafka.leader(target.topic, target.partition)
    victim = next(member for member in isr if member != leader)
    with kafka.kill(victim):
        kafka.wait_isr(target.topic, target.partition, len(isr) - 1, DEFAULT_TIMEOUT)
        yield


@contextmanager
def kill_controller(kafka: RunningCluster, _: Target) -> Iterator[None]:
    """kill -9 of the controller, until another broker has the office."""
    controller = kafka.controller()
    with kafka.kill(controller):
        kafka.wait_controller(other_than=controller, timeout=DEFAULT_TIMEOUT)
        yield


@contextmanager
def pause_leader(kafka: RunningCluster, target: Target) -> Iterator[None]:
    """SIGSTOP of the leader past its ZooKeeper session: it wakes up as a zombie."""
    with kafka.pause(kafka.leader(target.topic, target.partition)) as fault:
        kafka.wait_leader_change(target.topic, target.partition, fault, DEFAULT_TIMEOUT)
        yield


Strike = Callable[[RunningCluster, Target], AbstractContextManager[None]]
STRIKES: tuple[Strike, ...] = (kill_leader, kill_follower, kill_controller, pause_leader)
