"""JoinGroup, SyncGroup, Heartbeat, LeaveGroup, DescribeGroups, ListGroups and DeleteGroups, in
every version that is served."""

from __future__ import annotations

import pytest

from logquake.node.coordinators.groups.membership.values import (
    JoinResult,
    Protocol,
    Sync,
    SyncResult,
)
from logquake.node.requests.delete_groups import DeleteGroups
from logquake.node.requests.describe_groups import DescribeGroups
from logquake.node.requests.heartbeat import Heartbeat
from logquake.node.requests.join_group import JoinGroup
from logquake.node.requests.leave_group import LeaveGroup
from logquake.node.requests.list_groups import ListGroups
from logquake.node.requests.sync_group import SyncGroup
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.consumer_group import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupHeartbeatRequest,
)
from logquake.wire.messages.group_admin import (
    DeleteGroupsRequest,
    DescribedGroup,
    DescribeGroupsRequest,
    ListGroupsRequest,
)
from logquake.wire.messages.group_membership import JoinGroupRequestProtocol
from tests.doubles.joins import join_of
from tests.unit.node.requests.group_members import (
    COORDINATING,
    GROUP,
    Asked,
    LoneMember,
    coordinate,
    heartbeat,
    join,
    leave,
    sync,
)
from tests.unit.node.requests.lone_broker import LoneBroker

NOT_ASKED = -(2**31)
READ_DELETE_DESCRIBE = 1 << 3 | 1 << 6 | 1 << 8


@pytest.fixture
def properties() -> dict[str, str]:
    return COORDINATING


@pytest.fixture
def coordinator(broker: LoneBroker) -> LoneBroker:
    coordinate(broker)
    return broker


def describe(broker: LoneBroker, group: str = GROUP, version: int = 5) -> DescribedGroup:
    (described,) = broker.ask(DescribeGroupsRequest(groups=[group]), version).groups
    assert isinstance(described, DescribedGroup)
    return described


# JoinGroup


@pytest.mark.parametrize("version", JoinGroup.versions)
def test_a_member_joins(coordinator: LoneBroker, version: int) -> None:
    asked = Asked(coordinator, join(), version)
    if version >= 4:
        sent_back = asked.answer
        assert sent_back.error_code == ErrorCode.MEMBER_ID_REQUIRED
        assert sent_back.protocol_name == (None if version >= 7 else "")
        asked = Asked(coordinator, join(sent_back.member_id), version)
        assert sent_back.member_id.startswith("test-")
    coordinator.scheduler.advance(0)
    coordinator.settle()
    answer = asked.answer
    assert (answer.error_code, answer.generation_id) == (ErrorCode.NONE, 1)
    assert (answer.protocol_name, answer.leader) == ("range", answer.member_id)
    assert answer.protocol_type == ("consumer" if version >= 7 else None)
    assert [(each.member_id, each.metadata) for each in answer.members] == [
        (answer.member_id, b"said")
    ]


@pytest.mark.parametrize("version", JoinGroup.versions)
@pytest.mark.parametrize("timeout_ms", [5_999, 1_800_001])
def test_a_session_time_out_out_of_bounds_is_refused(
    coordinator: LoneBroker, version: int, timeout_ms: int
) -> None:
    answer = coordinator.ask(join("a", session_timeout_ms=timeout_ms), version)
    assert answer.error_code == ErrorCode.INVALID_SESSION_TIMEOUT
    assert (answer.member_id, answer.generation_id) == ("a", -1)


@pytest.mark.parametrize("version", JoinGroup.versions)
def test_an_id_that_nobody_has_founds_no_group(coordinator: LoneBroker, version: int) -> None:
    answer = coordinator.ask(join("a"), version)
    assert (answer.error_code, answer.member_id) == (ErrorCode.UNKNOWN_MEMBER_ID, "a")
    assert describe(coordinator).group_state == "Dead"


def test_the_first_version_has_one_time_out_for_both(coordinator: LoneBroker) -> None:
    """The session's: who was there does not come again in it, and the new one goes on alone."""
    LoneMember(coordinator)
    waiting = Asked(coordinator, join(session_timeout_ms=20_000, rebalance_timeout_ms=-1), 0)
    coordinator.scheduler.advance(60_000)
    coordinator.settle()
    assert waiting.answer.generation_id == 2


def test_a_protocol_that_is_named_twice_counts_once(coordinator: LoneBroker) -> None:
    range_twice = [
        JoinGroupRequestProtocol(name="range", metadata=said) for said in (b"one", b"two")
    ]
    asked = Asked(coordinator, join(protocols=range_twice), 3)
    coordinator.scheduler.advance(0)
    coordinator.settle()
    assert [each.metadata for each in asked.answer.members] == [b"one"]


def test_a_name_too_long_for_an_id_is_refused(coordinator: LoneBroker) -> None:
    answer = coordinator.ask(join(group_instance_id="i" * 32_740), 5)
    assert (answer.error_code, answer.member_id) == (ErrorCode.UNKNOWN_SERVER_ERROR, "")


@pytest.mark.parametrize("version", range(5, 10))
def test_a_static_member_comes_back_without_a_rebalance(
    coordinator: LoneBroker, version: int
) -> None:
    asked = Asked(coordinator, join(group_instance_id="i"), version)
    coordinator.scheduler.advance(0)
    coordinator.settle()
    first = asked.answer
    given = {first.member_id: b"given"}
    coordinator.ask(sync(first.member_id, 1, given, group_instance_id="i"), 5)
    again = Asked(coordinator, join(group_instance_id="i"), version).answer
    assert (again.error_code, again.generation_id) == (ErrorCode.NONE, 1)
    assert again.member_id != first.member_id
    if version >= 9:
        assert (again.leader, again.skip_assignment) == (again.member_id, True)
        assert [each.group_instance_id for each in again.members] == ["i"]
    else:
        assert (again.leader, again.members) == (first.member_id, [])
    fenced = coordinator.ask(heartbeat(first.member_id, 1, group_instance_id="i"), 4)
    assert fenced.error_code == ErrorCode.FENCED_INSTANCE_ID


# SyncGroup


@pytest.mark.parametrize("version", SyncGroup.versions)
def test_members_get_what_the_leader_assigned(coordinator: LoneBroker, version: int) -> None:
    member = LoneMember(coordinator)
    answer = coordinator.ask(sync(member.member_id, member.generation, version=version), version)
    assert (answer.error_code, answer.assignment) == (ErrorCode.NONE, b"given")
    protocol = (answer.protocol_type, answer.protocol_name)
    assert protocol == (("consumer", "range") if version >= 5 else (None, None))


def test_a_sync_has_to_name_its_protocol(coordinator: LoneBroker) -> None:
    """Before anything else is looked at (KIP-559)."""
    answer = coordinator.ask(sync("", 0, protocol_name=None, group=""), 5)
    assert answer.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


# Heartbeat


@pytest.mark.parametrize("version", Heartbeat.versions)
def test_a_heartbeat_tells_of_a_rebalance(coordinator: LoneBroker, version: int) -> None:
    member = LoneMember(coordinator)

    def beat(generation: int) -> int:
        request = heartbeat(member.member_id, generation)
        return int(coordinator.ask(request, version).error_code)

    assert beat(member.generation) == ErrorCode.NONE
    assert beat(member.generation + 1) == ErrorCode.ILLEGAL_GENERATION
    Asked(coordinator, join(), 3)
    assert beat(member.generation) == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_member_that_is_not_heard_of_is_none_any_more(coordinator: LoneBroker) -> None:
    member = LoneMember(coordinator)
    coordinator.scheduler.advance(9_999)
    assert describe(coordinator).group_state == "Stable"
    coordinator.scheduler.advance(1)
    coordinator.settle()
    assert describe(coordinator).group_state == "Empty"
    answer = coordinator.ask(heartbeat(member.member_id, member.generation), 4)
    assert answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID


# LeaveGroup


@pytest.mark.parametrize("version", LeaveGroup.versions)
def test_a_member_leaves(coordinator: LoneBroker, version: int) -> None:
    member = LoneMember(coordinator)
    answer = coordinator.ask(leave(member.member_id, version=version), version)
    again = coordinator.ask(leave(member.member_id, version=version), version)
    if version >= 3:
        told = [(each.member_id, each.error_code) for each in answer.members + again.members]
        gone = (member.member_id, ErrorCode.UNKNOWN_MEMBER_ID)
        assert told == [(member.member_id, ErrorCode.NONE), gone]
        assert (answer.error_code, again.error_code) == (ErrorCode.NONE, ErrorCode.NONE)
    else:
        assert answer.error_code == ErrorCode.NONE
        assert again.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert describe(coordinator).group_state == "Empty"


@pytest.mark.parametrize("version", LeaveGroup.versions)
def test_nobody_leaves_a_group_that_is_not_there(coordinator: LoneBroker, version: int) -> None:
    answer = coordinator.ask(leave("a", version=version), version)
    errors = [each.error_code for each in answer.members] or [answer.error_code]
    assert errors == [ErrorCode.UNKNOWN_MEMBER_ID]


# DescribeGroups, ListGroups, DeleteGroups


@pytest.mark.parametrize("version", DescribeGroups.versions)
def test_a_group_is_described(coordinator: LoneBroker, version: int) -> None:
    member = LoneMember(coordinator)
    group = describe(coordinator, version=version)
    assert (group.error_code, group.group_id, group.group_state) == (0, GROUP, "Stable")
    assert (group.protocol_type, group.protocol_data) == ("consumer", "range")
    assert group.authorized_operations == NOT_ASKED
    (only,) = group.members
    assert (only.member_id, only.group_instance_id) == (member.member_id, None)
    assert (only.client_id, only.client_host) == ("test", "/127.0.0.1")
    assert (only.member_metadata, only.member_assignment) == (b"said", b"given")


def test_what_may_be_done_with_a_group_is_told_to_who_asks(coordinator: LoneBroker) -> None:
    request = DescribeGroupsRequest(groups=["nowhere"], include_authorized_operations=True)
    (group,) = coordinator.ask(request, 5).groups
    assert (group.group_state, group.authorized_operations) == ("Dead", READ_DELETE_DESCRIBE)


@pytest.mark.parametrize("version", ListGroups.versions)
def test_groups_are_listed(coordinator: LoneBroker, version: int) -> None:
    LoneMember(coordinator)
    (listed,) = coordinator.ask(ListGroupsRequest(), version).groups
    assert (listed.group_id, listed.protocol_type) == (GROUP, "consumer")
    assert listed.group_state == ("Stable" if version >= 4 else "")
    assert listed.group_type == ("classic" if version >= 5 else "")


@pytest.mark.parametrize(
    ("states", "types", "listed"),
    [
        (["stable"], [], [GROUP]),
        (["Empty", "STABLE"], [], [GROUP]),
        (["Empty"], [], []),
        (["nonsense"], [], []),
        ([], ["Classic"], [GROUP]),
        ([], ["consumer"], []),
        ([], ["nonsense"], []),
        (["Stable"], ["consumer", "classic"], [GROUP]),
        (["Empty"], ["classic"], []),
    ],
)
def test_groups_are_listed_by_state_and_type(
    coordinator: LoneBroker, states: list[str], types: list[str], listed: list[str]
) -> None:
    LoneMember(coordinator)
    request = ListGroupsRequest(states_filter=states, types_filter=types)
    assert [each.group_id for each in coordinator.ask(request, 5).groups] == listed


@pytest.mark.parametrize("version", DeleteGroups.versions)
def test_an_empty_group_is_deleted(coordinator: LoneBroker, version: int) -> None:
    member = LoneMember(coordinator)
    request = DeleteGroupsRequest(groups_names=[GROUP, "nowhere", GROUP])
    in_use = coordinator.ask(request, version)
    assert [(each.group_id, each.error_code) for each in in_use.results] == [
        (GROUP, ErrorCode.NON_EMPTY_GROUP),
        ("nowhere", ErrorCode.GROUP_ID_NOT_FOUND),
    ]
    coordinator.ask(leave(member.member_id), 5)
    gone = coordinator.ask(request, version)
    assert [each.error_code for each in gone.results] == [
        ErrorCode.NONE,
        ErrorCode.GROUP_ID_NOT_FOUND,
    ]
    assert describe(coordinator).group_state == "Dead"
    assert coordinator.ask(ListGroupsRequest(), 5).groups == []


# Groups of KIP-848


def test_the_consumer_protocol_of_kip_848_is_refused(coordinator: LoneBroker) -> None:
    """As by a Kafka 3.9 in ZooKeeper mode, which tells of it all the same."""
    refused = ErrorCode.UNSUPPORTED_VERSION
    beat = coordinator.ask(ConsumerGroupHeartbeatRequest(group_id=GROUP, member_id=""), 0)
    assert (beat.error_code, beat.error_message, beat.member_id) == (refused, None, None)
    asked = ConsumerGroupDescribeRequest(group_ids=[GROUP, "nowhere"])
    told = coordinator.ask(asked, 0).groups
    assert [(each.group_id, each.error_code) for each in told] == [
        (GROUP, refused),
        ("nowhere", refused),
    ]


# All of them


def test_names_that_no_record_can_have_end_nothing(coordinator: LoneBroker) -> None:
    """Bytes that are no UTF-8 are read as a longer text than may be written."""
    grown = "\N{REPLACEMENT CHARACTER}" * 20_000
    members = coordinator.parts.groups.members
    assert members.heartbeat(grown, "a", None, 1) is ErrorCode.UNKNOWN_SERVER_ERROR
    joined: list[JoinResult] = []
    protocols = (Protocol(grown, b""),)
    members.join(GROUP, join_of("", joined.append, unique="1", protocols=protocols))
    coordinator.scheduler.advance(0)
    synced: list[SyncResult] = []
    members.sync(GROUP, Sync(joined[0].member_id, None, 1, None, None, {}, synced.append))
    assert [each.error for each in synced] == [ErrorCode.UNKNOWN_SERVER_ERROR]
    assert describe(coordinator).group_state == "PreparingRebalance"


def test_who_does_not_coordinate_says_so(broker: LoneBroker) -> None:
    not_here = ErrorCode.NOT_COORDINATOR
    assert broker.ask(join("a"), 9).error_code == not_here
    assert broker.ask(sync("a", 1), 5).error_code == not_here
    assert broker.ask(heartbeat("a", 1), 4).error_code == not_here
    assert broker.ask(leave("a"), 5).error_code == not_here
    assert describe(broker).error_code == not_here
    deleted = broker.ask(DeleteGroupsRequest(groups_names=[GROUP]), 2)
    assert deleted.results[0].error_code == not_here
    assert broker.ask(ListGroupsRequest(), 5).error_code == ErrorCode.NONE


def test_members_need_a_groups_name(coordinator: LoneBroker) -> None:
    """Administrators do not: offsets may have been committed to no group."""
    refused = ErrorCode.INVALID_GROUP_ID
    assert coordinator.ask(join(group=""), 9).error_code == refused
    assert coordinator.ask(sync("a", 1, group=""), 5).error_code == refused
    assert coordinator.ask(heartbeat("a", 1, group=""), 4).error_code == refused
    assert coordinator.ask(leave("a", group=""), 5).error_code == refused
    assert describe(coordinator, group="").group_state == "Dead"
