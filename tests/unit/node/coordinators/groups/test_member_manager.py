"""Members of a group whose log has followers: told what is replicated, and who comes after."""

from __future__ import annotations

from itertools import count

import pytest

from logquake.node.coordinators.groups.group_partition import GroupPartition
from logquake.node.coordinators.groups.member_manager import MemberManager
from logquake.node.coordinators.groups.membership.settings import GroupSettings
from logquake.node.coordinators.groups.membership.values import (
    JoinResult,
    Leaver,
    Protocol,
    Sync,
    SyncResult,
)
from logquake.node.coordinators.groups.offsets.settings import OffsetSettings
from logquake.wire.errors import ErrorCode
from tests.doubles.joins import join_of
from tests.doubles.journal import MemoryJournal
from tests.doubles.scheduler import ManualScheduler
from tests.doubles.workers import HeldWorkers
from tests.unit.node.coordinators.groups.coordinated import CoordinatedGroups
from tests.unit.node.replication.one_broker import OneBroker

SESSION_MS = 10_000
SETTINGS = GroupSettings(initial_rebalance_delay_ms=0)
RECORDS = OffsetSettings()


class Members(CoordinatedGroups):
    _unique = count(1)

    @property
    def manager(self) -> MemberManager:
        return self.coordinator.members

    def join(self, member_id: str = "", *, said: bytes = b"") -> list[JoinResult]:
        answers: list[JoinResult] = []
        unique, protocols = f"{next(self._unique)}", (Protocol("range", said),)
        asked = join_of(member_id, answers.append, unique=unique, protocols=protocols)
        self.manager.join("g", asked)
        self.end_pass()
        self.scheduler.advance(0)
        self.end_pass()
        return answers

    def sync(self, member_id: str, generation: int, given: bytes = b"") -> list[SyncResult]:
        answers: list[SyncResult] = []
        assignments = {member_id: given}
        asked = Sync(member_id, None, generation, None, None, assignments, answers.append)
        self.manager.sync("g", asked)
        self.end_pass()
        return answers

    def heartbeat(self, member_id: str, generation: int) -> ErrorCode:
        return self.manager.heartbeat("g", member_id, None, generation)

    def leave(self, member_id: str) -> object:
        errors = self.manager.leave("g", [Leaver(member_id, None, "")])
        self.end_pass()
        return errors

    def check_replay(self) -> None:
        """The log, loaded anew, says what administrators are shown."""
        loaded = self.load_anew()
        loaded.remove_idle()
        assert shown(loaded) == shown(self.state)


def shown(state: GroupPartition) -> list[object]:
    groups = [group.membership for group in state]
    return [
        (
            *(each.group_id, each.state.name, each.generation_id, each.protocol_name),
            *(each.state_changed_ms, each.members.leader_id),
            *((member.member_id, member.assignment) for member in each.members),
        )
        for each in groups
    ]


@pytest.fixture
def members(
    broker: OneBroker, scheduler: ManualScheduler, workers: HeldWorkers, journal: MemoryJournal
) -> Members:
    return Members(broker, scheduler, workers, journal, SETTINGS, RECORDS)


@pytest.fixture
def member(members: Members) -> str:
    """One that has joined generation 1."""
    (joined,) = members.join()
    assert (joined.error, joined.generation_id) == (ErrorCode.NONE, 1)
    return joined.member_id


def test_an_assignment_is_told_when_it_is_replicated(members: Members, member: str) -> None:
    answers = members.sync(member, 1, b"given")
    assert answers == []
    members.replicate()
    assert [(each.error, each.assignment) for each in answers] == [(ErrorCode.NONE, b"given")]
    members.scheduler.advance(SESSION_MS - 1)
    assert members.heartbeat(member, 1) is ErrorCode.NONE


def test_an_assignment_that_is_not_replicated_in_time_is_told_to_nobody(
    members: Members, member: str
) -> None:
    answers = members.sync(member, 1, b"given")
    members.scheduler.advance(RECORDS.commit_timeout_ms)
    members.end_pass()
    assert [(each.error, each.assignment) for each in answers] == [
        (ErrorCode.REBALANCE_IN_PROGRESS, b"")
    ]
    assert members.heartbeat(member, 1) is ErrorCode.REBALANCE_IN_PROGRESS


def test_what_is_loaded_is_what_was_known(members: Members, member: str) -> None:
    members.sync(member, 1, b"given")
    members.replicate()
    members.check_replay()
    members.leave(member)
    members.replicate()
    members.check_replay()
    assert members.manager.delete("g") is ErrorCode.NONE
    members.end_pass()
    members.replicate()
    members.check_replay()


def test_who_waits_is_told_that_the_coordinator_is_another(
    members: Members, member: str, broker: OneBroker
) -> None:
    syncing = members.sync(member, 1, b"given")
    broker.assign(leader=2, epoch=1)
    members.end_pass()
    assert [each.error for each in syncing] == [ErrorCode.NOT_COORDINATOR]
    assert members.heartbeat(member, 1) is ErrorCode.NOT_COORDINATOR
    assert [each.error for each in members.join()] == [ErrorCode.NOT_COORDINATOR]


def test_who_waits_to_join_is_told_that_the_coordinator_is_another(
    members: Members, member: str, broker: OneBroker
) -> None:
    members.sync(member, 1, b"given")
    members.replicate()
    joining = members.join()
    broker.assign(leader=2, epoch=1)
    members.end_pass()
    assert [each.error for each in joining] == [ErrorCode.NOT_COORDINATOR]


def test_nobody_is_woken_for_a_group_that_another_coordinates(
    members: Members, member: str, broker: OneBroker, journal: MemoryJournal
) -> None:
    members.sync(member, 1, b"given")
    members.replicate()
    broker.assign(leader=2, epoch=1)
    members.end_pass()
    told = len(journal.events)
    members.scheduler.advance(2 * SESSION_MS)
    assert [each for each in journal.events[told:] if each.what == "group-state-changed"] == []


def test_the_journal_says_why_a_group_rebalances(
    members: Members, member: str, journal: MemoryJournal
) -> None:
    members.leave(member)
    changes = [each for each in journal.events if each.what == "group-state-changed"]
    assert [(each.subject, each.after, each.epoch) for each in changes] == [
        ("g", "PreparingRebalance", 0),
        ("g", "CompletingRebalance", 1),
        ("g", "PreparingRebalance", 1),
        ("g", "Empty", 2),
    ]
    assert f"member {member} left" in changes[2].why


def test_while_the_log_is_loaded_members_are_put_off(
    members: Members, member: str, broker: OneBroker, workers: HeldWorkers
) -> None:
    """Heartbeats are taken for good; what was being assigned is lost, so all join anew."""
    members.sync(member, 1, b"given")
    members.replicate()
    broker.assign(leader=2, epoch=1)
    members.end_pass()
    broker.lead(epoch=2)
    members.end_pass()
    loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert members.heartbeat(member, 1) is ErrorCode.NONE
    assert [each.error for each in members.sync(member, 1)] == [ErrorCode.REBALANCE_IN_PROGRESS]
    assert [each.error for each in members.join()] == [loading]
    assert members.leave(member) is loading
    assert members.manager.describe("g").error_code == loading
    assert members.manager.delete("g") is loading
    assert members.manager.list_groups([], []) == (loading, [])
    workers.finish()
    members.end_pass()
    assert [each.assignment for each in members.sync(member, 1)] == [b"given"]
    members.scheduler.advance(SESSION_MS)
    assert members.heartbeat(member, 1) is ErrorCode.UNKNOWN_MEMBER_ID
