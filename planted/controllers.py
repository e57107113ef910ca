"""Bugs of the elected controller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace as changed

from logquake.controller.channels import vigil
from logquake.controller.events import create_topics, leader_rebalance
from logquake.controller.events.create_topics import NewTopic, TopicCreation
from logquake.controller.office import candidacy, office
from logquake.controller.office.candidacy import Incumbent, Mandate
from logquake.controller.rules import isr_change
from logquake.controller.rules.election import (
    Candidates,
    Elected,
    Election,
    NotElected,
    Outcome,
    elect_when_leader_is_lost,
)
from logquake.controller.rules.partitions import LeaderAndIsr, LeaderRecovery, Leadership
from logquake.controller.state_machines import partition_state_machine, replica_state_machine
from logquake.controller.term import Term
from logquake.controller.zookeeper import guarded_zk
from logquake.controller.zookeeper.guarded_zk import GuardedZk, UnitOutcome
from logquake.planted.bug import Replace
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import NO_LEADER
from logquake.zk.operations import ANY_VERSION, Data, Delete, Failed, Multi, Write
from logquake.zk.znodes.control import CONTROLLER_PATH, guarded

# Elections


def elect_whoever_lives(replace: Replace) -> None:
    """With no member of the ISR left any replica leads, whatever the topic says of that."""

    def any_of_them(**_: bool) -> Election:
        return elect_when_leader_is_lost(unclean_allowed=True)

    replace(partition_state_machine, "elect_when_leader_is_lost", any_of_them)


def prefer_who_lags(replace: Replace) -> None:
    """The preferred replica leads again as soon as it lives, in sync or not."""

    def elect(candidates: Candidates, state: LeaderAndIsr) -> Outcome:
        preferred = candidates.assigned[0]
        if preferred not in candidates.online:
            return NotElected(f"the preferred replica {preferred} is not online")
        isr = state.isr if preferred in state.isr else (preferred, *state.isr)
        why = f"broker {preferred} is the preferred replica"
        return Elected(state.succeeded_by(preferred, isr), candidates.assigned, why)

    replace(leader_rebalance, "elect_preferred", elect)
    replace(partition_state_machine, "elect_preferred", elect)


def keep_the_leader_epoch(replace: Replace) -> None:
    """A new leader has the epoch of the one before."""

    def succeeded_by(
        self: LeaderAndIsr,
        leader: int,
        isr: tuple[int, ...],
        recovery: LeaderRecovery | None = None,
    ) -> LeaderAndIsr:
        return changed(
            self, leader=leader, isr=isr, recovery=self.recovery if recovery is None else recovery
        )

    replace(LeaderAndIsr, "succeeded_by", succeeded_by)


def take_the_last_out_of_the_isr(replace: Replace) -> None:
    """Nobody is left who is known to have everything."""

    def without_replica(state: LeaderAndIsr, broker_id: int) -> LeaderAndIsr:
        leader = NO_LEADER if state.leader == broker_id else state.leader
        return state.succeeded_by(leader, tuple(each for each in state.isr if each != broker_id))

    replace(replica_state_machine, "without_replica", without_replica)


def take_any_member(replace: Replace) -> None:
    """Who is proposed for the ISR may have gone, or lost its disk, since its leader looked."""
    replace(isr_change, "_judge_members", lambda *_: None)


def call_nobody_back(replace: Replace) -> None:
    """A broker that was refused once is not taken back when it accepts."""
    replace(vigil.Vigil, "_on_held", _held_for_nothing)


def _held_for_nothing(self: vigil.Vigil) -> None:
    self._cancel_timer()


# The office


def keep_the_controller_epoch(replace: Replace) -> None:
    """A new controller goes on with the epoch of the last one."""
    win = candidacy._win

    async def keep(broker_id: int, now_ms: int, current: Mandate, *first: Write) -> Mandate:
        epoch = max(current.epoch - 1, 0)
        return await win(broker_id, now_ms, changed(current, epoch=epoch), *first)

    replace(candidacy, "_win", keep)


def take_over_any_epoch(replace: Replace) -> None:
    """Whoever sees the controller refused takes its office, whatever has happened since."""

    async def take_any(_incumbent: Incumbent, broker_id: int, now_ms: int) -> Mandate:
        read = await candidacy._read_epoch()
        current = Mandate(read.epoch, ANY_VERSION)
        return await candidacy._win(broker_id, now_ms, current, Delete(CONTROLLER_PATH))

    replace(office, "take_over", take_any)


def write_for_any_epoch(replace: Replace) -> None:
    """What a controller writes is written, whoever has the office by now."""

    def unguarded(_epoch_zk_version: int, *writes: Write) -> Multi:
        return guarded(ANY_VERSION, *writes)

    replace(guarded_zk, "guarded", unguarded)


def set_nothing_aside(replace: Replace) -> None:
    """A state that makes no sense fails whatever event meets it."""

    def found(zk: GuardedZk, outcome: Data | Failed) -> Leadership | None:
        return None if isinstance(outcome, Failed) else zk._leadership(outcome)

    replace(GuardedZk, "_found", found)


# Topics


def make_topics_in_two_writes(replace: Replace) -> None:
    """As in Kafka: a controller that dies between them leaves a configuration without a topic."""

    async def write_apart(term: Term, wanted: Mapping[int, NewTopic]) -> dict[int, UnitOutcome]:
        made: dict[int, UnitOutcome] = {}
        for place, new in wanted.items():
            for znode in create_topics._znodes(new):
                (made[place],) = await term.zk.write_units([(znode,)])
        return made

    replace(create_topics, "_write_znodes", write_apart)


def answer_topics_too_soon(replace: Replace) -> None:
    """A client is told of its topic before ZooKeeper has it."""
    carry_out = TopicCreation.carry_out

    async def answer_first(creation: TopicCreation, term: Term) -> None:
        creation.refuse_rest(ErrorCode.NONE)
        replace(creation, "_reply", lambda _response: None)
        await carry_out(creation, term)

    replace(TopicCreation, "carry_out", answer_first)
