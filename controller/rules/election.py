"""Who leads a partition next, and what its ISR becomes: pure decisions.

The rules are Kafka's (Election, PartitionLeaderElectionAlgorithms). An election sees one
partition's assignment, its state as ZooKeeper has it, and which replicas are online; it answers
Elected, or NotElected with the reason. Every elected state has the next leader epoch, also when
only the ISR changed: the epoch is what fences the leader that was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from logquake.controller.rules.partitions import LeaderAndIsr, LeaderRecovery
from logquake.wire.sentinels import NO_LEADER


@dataclass(frozen=True, slots=True)
class Candidates:
    """What an election may choose from.

    ``assigned`` is in order of preference. ``online`` are the assigned replicas whose broker
    lives and whose log directory works; ``shutting_down`` are brokers in controlled shutdown, which
    are online still but must not be elected.
    """

    assigned: tuple[int, ...]
    online: frozenset[int]
    shutting_down: frozenset[int] = frozenset()

    def first(self, eligible: Callable[[int], bool]) -> int | None:
        return next((r for r in self.assigned if r in self.online and eligible(r)), None)


@dataclass(frozen=True, slots=True)
class Elected:
    """``recipients`` are the brokers to be told by LeaderAndIsr."""

    state: LeaderAndIsr
    recipients: tuple[int, ...]
    why: str

    unclean: bool = False


@dataclass(frozen=True, slots=True)
class NotElected:
    why: str


Outcome = Elected | NotElected
Election = Callable[[Candidates, LeaderAndIsr], Outcome]


def elect_when_leader_is_lost(*, unclean_allowed: bool) -> Election:
    """For new or offline partitions (Election.leaderForOffline).

    The first online replica of the assignment that is in the ISR. With none, and only if unclean
    elections are allowed, the first online replica: the ISR becomes it alone, the partition is
    marked as recovering, and what only the old ISR held is lost.
    """

    def elect(candidates: Candidates, state: LeaderAndIsr) -> Outcome:
        clean = candidates.first(lambda replica: replica in state.isr)
        if clean is not None:
            return _elected_from_isr(clean, candidates, state)
        if not unclean_allowed:
            return NotElected(
                f"no replica of ISR {list(state.isr)} is online "
                f"(online: {sorted(candidates.online)}), unclean election is not allowed"
            )
        return _elected_uncleanly(candidates, state)

    return elect


def _elected_from_isr(leader: int, candidates: Candidates, state: LeaderAndIsr) -> Elected:
    isr = tuple(replica for replica in state.isr if replica in candidates.online)
    gone = [replica for replica in state.isr if replica not in candidates.online]
    why = f"broker {leader} is the first online replica of ISR {list(state.isr)}"
    if gone:
        why += f"; not online: {gone}"
    return Elected(state.succeeded_by(leader, isr), _online_in_order(candidates), why)


def _elected_uncleanly(candidates: Candidates, state: LeaderAndIsr) -> Outcome:
    leader = candidates.first(lambda _: True)
    if leader is None:
        return NotElected(f"no replica of {list(candidates.assigned)} is online")
    return Elected(
        state.succeeded_by(leader, (leader,), LeaderRecovery.RECOVERING),
        _online_in_order(candidates),
        f"unclean: no replica of ISR {list(state.isr)} is online, broker {leader} is; "
        "what only that ISR held is lost",
        unclean=True,
    )


def elect_preferred(candidates: Candidates, state: LeaderAndIsr) -> Outcome:
    """The first assigned replica, if it is online and in the ISR; the ISR stays."""
    preferred = candidates.assigned[0]
    if preferred not in candidates.online:
        return NotElected(f"the preferred replica {preferred} is not online")
    if preferred not in state.isr:
        return NotElected(f"the preferred replica {preferred} is not in ISR {list(state.isr)}")
    return Elected(
        state.succeeded_by(preferred, state.isr),
        candidates.assigned,
        f"broker {preferred} is the preferred replica and in sync",
    )


def elect_for_controlled_shutdown(candidates: Candidates, state: LeaderAndIsr) -> Outcome:
    """Another member of the ISR leads; every broker that shuts down goes out of the ISR."""
    leader = candidates.first(
        lambda replica: replica in state.isr and replica not in candidates.shutting_down
    )
    if leader is None:
        return NotElected(
            f"no replica of ISR {list(state.isr)} is online other than "
            f"the leaving {sorted(candidates.shutting_down)}"
        )
    return Elected(
        state.succeeded_by(
            leader, tuple(r for r in state.isr if r not in candidates.shutting_down)
        ),
        _online_in_order(candidates),
        f"broker {state.leader} shuts down; broker {leader} is in ISR {list(state.isr)}",
    )


def first_leader(candidates: Candidates) -> LeaderAndIsr | NotElected:
    """A new partition's first state: the first online replica leads, all online are in sync."""
    online = _online_in_order(candidates)
    if not online:
        return NotElected(f"no assigned replica of {list(candidates.assigned)} is online")
    return LeaderAndIsr(online[0], leader_epoch=0, isr=online, partition_epoch=0)


def without_replica(state: LeaderAndIsr, broker_id: int) -> LeaderAndIsr:
    """The state once a replica is offline (ReplicaStateMachine.doRemoveReplicasFromIsr).

    The last member of an ISR stays in it: it is the only one known to hold everything committed,
    so only it may lead again without loss.
    """
    leader = NO_LEADER if state.leader == broker_id else state.leader
    remaining = tuple(replica for replica in state.isr if replica != broker_id)
    return state.succeeded_by(leader, remaining or state.isr)


def _online_in_order(candidates: Candidates) -> tuple[int, ...]:
    return tuple(replica for replica in candidates.assigned if replica in candidates.online)
