"""Ours and a Kafka 3.9 are led through the same lives of groups, in every version of every request
that members and administrators send: they answer the same, field by field.

Member ids are told apart by the name that each begins with; what is random in them is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from logquake.client.connection import connect_to_one
from logquake.client.network.settings import NetworkSettings
from logquake.client.settings import Address
from logquake.cluster.api import Cluster
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.consumer_group import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from logquake.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from logquake.wire.messages.group_admin import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
)
from logquake.wire.messages.group_membership import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from logquake.wire.schema import Message
from tests.compat.lone_kafka import LoneKafka
from tests.conftest import nothing_left_behind
from tests.waiting import wait_for

pytestmark = [pytest.mark.maven, pytest.mark.slow]

JOINS, SYNCS, HEARTBEATS, LEAVES = range(10), range(6), range(5), range(6)
DESCRIBES, LISTS, DELETES = range(6), range(6), range(3)
UUID = re.compile(r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIMEOUT_MS = 60_000


class Coordinator:
    """The broker that coordinates the groups of a test, and all that it answered, in order."""

    def __init__(self, servers: str) -> None:
        self._servers = servers
        self._pool = ThreadPoolExecutor(4)
        self.told: list[str] = []

    def find(self, group: str) -> None:
        host, port = self._servers.split(",")[0].rsplit(":", 1)
        first = Address(host, int(port))

        def look() -> FindCoordinatorResponse:
            asked = FindCoordinatorRequest(key=group, key_type=0)
            answer = self._request(first, "looker", asked, FindCoordinatorResponse, 3)
            assert isinstance(answer, FindCoordinatorResponse)
            return answer

        found = wait_for("coordinator", look, lambda answer: not answer.error_code)
        self._address = Address(found.host, found.port)
        admin = DescribeGroupsRequest(groups=[group])
        loaded = ErrorCode.NONE
        wait_for(
            "coordinator that has its log",
            lambda: self._request(self._address, "looker", admin, DescribeGroupsResponse, 0),
            lambda answer: answer.groups[0].error_code == loaded,
        )

    def ask(self, what: str, request: Message, answer: type[Message], version: int) -> Any:
        """The client's id is the first word of what it does."""
        return self._note(what, version, self._send(what, request, answer, version))

    def ask_later(
        self, what: str, request: Message, answer: type[Message], version: int
    ) -> Callable[[], Any]:
        """One that waits for others; call what it returns once they came."""
        pending: Future[Any] = self._pool.submit(self._send, what, request, answer, version)
        return lambda: self._note(what, version, pending.result())

    def close(self) -> None:
        self._pool.shutdown()

    def _send(self, what: str, request: Message, answer: type[Message], version: int) -> Any:
        return self._request(self._address, what.split()[0], request, answer, version)

    def _request(
        self, address: Address, client: str, request: Any, answer: Any, version: int
    ) -> Any:
        settings = NetworkSettings(client_id=client)
        with closing(connect_to_one(address, settings)) as there:
            return there.request(request, answer, at_most=version)

    def _note(self, what: str, version: int, answer: Any) -> Any:
        for described in getattr(answer, "groups", []):
            getattr(described, "members", []).sort(key=lambda each: each.member_id)
        getattr(answer, "members", []).sort(key=lambda each: each.member_id)
        self.told.append(f"{what} v{version}: {UUID.sub('-*', repr(answer))}")
        return answer


class Life:
    """Two members of one group, and what each version says at each turn of it."""

    def __init__(self, coordinator: Coordinator, group: str, join: int) -> None:
        self.broker, self.group = coordinator, group
        self.join_version = join
        self.sync_version = min(join, SYNCS[-1])

    def join(self, who: str, member_id: str = "", **fields: Any) -> Any:
        request = self._join(member_id, **fields)
        return self.broker.ask(f"{who} joins", request, JoinGroupResponse, self.join_version)

    def join_later(self, who: str, member_id: str = "", **fields: Any) -> Any:
        request = self._join(member_id, **fields)
        return self.broker.ask_later(f"{who} joins", request, JoinGroupResponse, self.join_version)

    def _join(self, member_id: str, **fields: Any) -> JoinGroupRequest:
        protocols = [
            JoinGroupRequestProtocol(name=name, metadata=b"said") for name in ("range", "sticky")
        ]
        given: dict[str, Any] = {
            "group_id": self.group,
            "session_timeout_ms": TIMEOUT_MS,
            "rebalance_timeout_ms": TIMEOUT_MS if self.join_version else -1,
            "protocol_type": "consumer",
            "protocols": protocols,
        }
        return JoinGroupRequest(member_id=member_id, **{**given, **fields})

    def sync(self, who: str, member_id: str, generation: int, *owners: str, **fields: Any) -> Any:
        request = self._sync(member_id, generation, *owners, **fields)
        return self.broker.ask(f"{who} syncs", request, SyncGroupResponse, self.sync_version)

    def sync_later(self, who: str, member_id: str, generation: int) -> Any:
        request = self._sync(member_id, generation)
        return self.broker.ask_later(f"{who} syncs", request, SyncGroupResponse, self.sync_version)

    def _sync(
        self, member_id: str, generation: int, *owners: str, **fields: Any
    ) -> SyncGroupRequest:
        given = [
            SyncGroupRequestAssignment(member_id=owner, assignment=b"part %d" % index)
            for index, owner in enumerate(owners)
        ]
        has_protocol = self.sync_version >= 5
        protocol = {"protocol_type": "consumer", "protocol_name": "range"} if has_protocol else {}
        asked: dict[str, Any] = {"group_id": self.group, "generation_id": generation}
        return SyncGroupRequest(
            member_id=member_id, assignments=given, **{**asked, **protocol, **fields}
        )

    def heartbeat(self, who: str, member_id: str, generation: int, **fields: Any) -> None:
        for version in HEARTBEATS:
            if version < 3 and fields:
                continue
            asked = HeartbeatRequest(
                group_id=self.group, member_id=member_id, generation_id=generation, **fields
            )
            self.broker.ask(f"{who} beats", asked, HeartbeatResponse, version)

    def leave(self, *leavers: MemberIdentity, versions: range = LEAVES) -> None:
        for version in versions:
            if version >= 3:
                asked = LeaveGroupRequest(group_id=self.group, members=list(leavers))
            else:
                asked = LeaveGroupRequest(group_id=self.group, member_id=leavers[0].member_id)
            self.broker.ask("leaver leaves", asked, LeaveGroupResponse, version)

    def look(self) -> None:
        """As administrators do."""
        for version in DESCRIBES:
            asked = DescribeGroupsRequest(
                groups=[self.group, "nowhere"], include_authorized_operations=version >= 3
            )
            self.broker.ask("admin describes", asked, DescribeGroupsResponse, version)
        for version in LISTS:
            self._list(version)
        self._list(4, states_filter=["stable", "nonsense"])
        self._list(5, types_filter=["classic"])
        self._list(5, types_filter=["Consumer", "nonsense"])
        self._list(5, states_filter=["EMPTY"], types_filter=["CLASSIC"])

    def _list(self, version: int, **filters: Any) -> None:
        """Of this group alone: groups of other tests are there too."""
        asked, what = ListGroupsRequest(**filters), f"admin lists {filters}"
        answer = self.broker._send(what, asked, ListGroupsResponse, version)
        answer.groups = [each for each in answer.groups if each.group_id == self.group]
        self.broker._note(what, version, answer)

    def delete(self, *groups: str) -> None:
        for version in DELETES:
            for group in groups or [self.group]:
                asked = DeleteGroupsRequest(groups_names=[group])
                self.broker.ask("admin deletes", asked, DeleteGroupsResponse, version)

    def wait_for_members(self, count: int) -> None:
        """Until so many have come: those that wait are asking on other connections."""
        asked = DescribeGroupsRequest(groups=[self.group])
        wait_for(
            f"{count} members",
            lambda: self.broker._send("admin", asked, DescribeGroupsResponse, 0).groups[0],
            lambda group: len(group.members) == count,
        )

    def wait_for_state(self, state: str) -> None:
        asked = DescribeGroupsRequest(groups=[self.group])
        wait_for(
            state,
            lambda: self.broker._send("admin", asked, DescribeGroupsResponse, 0).groups[0],
            lambda group: group.group_state == state,
        )


def dynamic_members(life: Life) -> None:
    """Two, from the first one's first request until the group is deleted."""
    life.join("early", "nobody")
    life.join("hasty", session_timeout_ms=1)
    life.join("empty", protocols=[])
    life.join("typeless", protocol_type="")
    life.look()
    a = joined(life, "a")
    life.look()
    life.sync("a", a, 0)
    life.sync("a", "nobody", 1)
    if life.sync_version >= 5:
        life.sync("a", a, 1, protocol_name="sticky")
        life.sync("a", a, 1, protocol_type="connect")
        life.sync("a", a, 1, protocol_type=None)
    life.sync("a", a, 1, a)
    life.look()
    life.heartbeat("a", a, 1)
    life.heartbeat("a", a, 7)
    life.heartbeat("a", "nobody", 1)
    life.join("stranger", protocols=[JoinGroupRequestProtocol(name="other", metadata=b"")])
    life.join("stranger", protocol_type="connect")
    life.delete()
    b_waits = second_joins(life)
    life.heartbeat("a", a, 1)
    life.sync("a", a, 1)
    life.look()
    life.join("a", a)
    b = b_waits().member_id
    b_syncs = life.sync_later("b", b, 2)
    life.sync("a", a, 2, a, b)
    b_syncs()
    life.sync("b", b, 2)
    life.join("b", b)
    life.look()
    life.leave(MemberIdentity(member_id=b), versions=range(life.join_version % 3, 6))
    life.wait_for_state("PreparingRebalance")
    life.leave(MemberIdentity(member_id=a), versions=range(life.join_version % 3, 6))
    life.wait_for_state("Empty")
    life.look()
    life.delete("nowhere", "")
    life.delete()
    life.look()


def joined(life: Life, who: str, **fields: Any) -> str:
    """The id of who joins and does not wait for anybody."""
    answer = life.join(who, **fields)
    if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
        answer = life.join(who, answer.member_id, **fields)
    return str(answer.member_id)


def second_joins(life: Life) -> Callable[[], Any]:
    """b, who waits for the first."""
    member_id = ""
    if life.join_version >= 4:
        member_id = life.join("b").member_id
    waiting: Callable[[], Any] = life.join_later("b", member_id)
    life.wait_for_members(2)
    return waiting


def static_members(life: Life) -> None:
    """One that is restarted again and again, with one that stays."""
    a = joined(life, "a", group_instance_id="i")
    life.sync("a", a, 1, a, group_instance_id="i")
    b_waits = life.join_later("b", group_instance_id="j")
    life.wait_for_members(2)
    life.join("a", a, group_instance_id="i")
    b = b_waits().member_id
    life.sync("a", a, 2, a, b, group_instance_id="i")
    life.sync("b", b, 2, group_instance_id="j")
    life.look()
    again = life.join("b", group_instance_id="j").member_id
    life.sync("b", b, 2, group_instance_id="j")
    life.sync("b", again, 2, group_instance_id="j")
    life.heartbeat("b", b, 2, group_instance_id="j")
    life.heartbeat("b", again, 2, group_instance_id="j")
    life.heartbeat("b", again, 2, group_instance_id="unknown")
    leader = life.join("a", group_instance_id="i").member_id
    life.sync("a", leader, 2, group_instance_id="i")
    life.join("a", a, group_instance_id="i")
    life.look()
    fenced = MemberIdentity(member_id=b, group_instance_id="j")
    nobody = MemberIdentity(member_id="nobody", group_instance_id=None)
    unknown = MemberIdentity(member_id="", group_instance_id="unknown")
    life.leave(fenced, nobody, unknown, versions=range(3, 6))
    both = [MemberIdentity(member_id="", group_instance_id=each) for each in ("i", "j")]
    life.leave(*both, versions=range(5, 6))
    life.wait_for_state("Empty")
    life.look()


def pending_member(life: Life) -> None:
    """One that was given an id, and leaves with it, or comes back as somebody else."""
    given = life.join("a").member_id
    life.heartbeat("a", given, 0)
    life.look()
    life.join("a", given, group_instance_id="i")
    life.leave(MemberIdentity(member_id=given), versions=range(5, 6))
    life.join("a", given)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One broker, which coordinates all groups, as the one of Kafka's does."""
    folder = tmp_path_factory.mktemp("cluster")
    config = {"offsets.topic.num.partitions": 1}
    with nothing_left_behind(folder / "temporary"), Cluster(brokers=1, config=config) as kafka:
        yield kafka


@pytest.fixture
def both(cluster: Cluster, lone_kafka: LoneKafka) -> Iterator[tuple[Coordinator, Coordinator]]:
    made = Coordinator(cluster.bootstrap_servers), Coordinator(lone_kafka.servers)
    yield made
    for each in made:
        each.close()


def compare(
    both: tuple[Coordinator, Coordinator], live: Callable[[Life], None], group: str, version: int
) -> int:
    """How many answers were alike."""
    for coordinator in both:
        coordinator.find(group)
        live(Life(coordinator, group, version))
    ours, kafkas = both
    assert ours.told == kafkas.told
    return len(ours.told)


PROVEN = "answers of ours about groups are a Kafka's"


@pytest.mark.parametrize("version", JOINS)
def test_dynamic_members_are_answered_alike(
    both: tuple[Coordinator, Coordinator],
    version: int,
    record_property: Callable[[str, int], None],
) -> None:
    record_property(PROVEN, compare(both, dynamic_members, f"dynamic-{version}", version))


@pytest.mark.parametrize("version", range(5, 10))
def test_static_members_are_answered_alike(
    both: tuple[Coordinator, Coordinator],
    version: int,
    record_property: Callable[[str, int], None],
) -> None:
    record_property(PROVEN, compare(both, static_members, f"static-{version}", version))


@pytest.mark.parametrize("version", range(5, 10))
def test_members_to_be_are_answered_alike(
    both: tuple[Coordinator, Coordinator],
    version: int,
    record_property: Callable[[str, int], None],
) -> None:
    record_property(PROVEN, compare(both, pending_member, f"pending-{version}", version))


def consumer_protocol(life: Life) -> None:
    """Of KIP-848; both tell of it, and refuse it."""
    beat = ConsumerGroupHeartbeatRequest(group_id=life.group, member_id="", member_epoch=0)
    life.broker.ask("a beats", beat, ConsumerGroupHeartbeatResponse, 0)
    asked = ConsumerGroupDescribeRequest(group_ids=[life.group, "nowhere"])
    life.broker.ask("admin describes", asked, ConsumerGroupDescribeResponse, 0)


def test_the_consumer_protocol_is_refused_alike(
    both: tuple[Coordinator, Coordinator], record_property: Callable[[str, int], None]
) -> None:
    record_property(PROVEN, compare(both, consumer_protocol, "kip-848", 9))
