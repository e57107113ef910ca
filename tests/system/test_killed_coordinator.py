"""The coordinator of a group is killed with -9 at each step of a rebalance; the next one goes on
with what members were told, and with nothing that they were not.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from typing import Any

import pytest

from logquake.client.errors import ClientError
from logquake.cluster.api import Cluster
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from logquake.wire.messages.group_admin import DescribeGroupsRequest, DescribeGroupsResponse
from logquake.wire.messages.group_membership import (
    HeartbeatResponse,
    JoinGroupResponse,
    SyncGroupResponse,
)
from logquake.wire.schema import Message
from tests.one_broker import OneBroker
from tests.unit.node.requests.group_members import heartbeat, join, sync
from tests.waiting import wait_for

OLD_VERSION = 3  # of JoinGroup: members have their id at once
LONG = {"session_timeout_ms": 60_000, "rebalance_timeout_ms": 60_000}

_groups = count()


class Group:
    """One group, asked at whoever coordinates it."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._pool = ThreadPoolExecutor(2)
        self.name = f"group-{next(_groups)}"
        self.broker = 0

    def look_up(self) -> None:
        """The coordinator that the cluster names, once it has its log."""

        def found() -> FindCoordinatorResponse:
            for address in self._cluster.bootstrap_servers.split(","):
                try:
                    asked = FindCoordinatorRequest(key=self.name)
                    there = OneBroker(int(address.rsplit(":", 1)[1]))
                    answer = there.ask(asked, FindCoordinatorResponse, 3)
                    OneBroker(answer.port).ask(asked, FindCoordinatorResponse, 3)
                except ClientError:
                    continue
                assert isinstance(answer, FindCoordinatorResponse)
                return answer
            return FindCoordinatorResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)

        def is_ready(answer: FindCoordinatorResponse) -> bool:
            if answer.error_code or answer.node_id == self.broker:
                return False
            self._there = OneBroker(answer.port)
            return not self.describe().error_code

        self.broker = wait_for("coordinator", found, is_ready, unready=(ClientError,)).node_id

    def kill_coordinator(self) -> None:
        killed = self.broker
        with self._cluster.kill(killed):
            self.look_up()
        self._cluster.wait_isr("__consumer_offsets", 0, size=3)

    def ask(self, request: Message, answer: type[Message], version: int) -> Any:
        return self._there.ask(request, answer, version)

    def ask_later(self, request: Message, answer: type[Message], version: int) -> Future[Any]:
        """What waits for others; it fails if its coordinator is killed."""
        return self._pool.submit(self.ask, request, answer, version)

    def join(self, member_id: str = "") -> Any:
        return self.ask(join(member_id, group=self.name, **LONG), JoinGroupResponse, OLD_VERSION)

    def join_later(self, member_id: str = "") -> Future[Any]:
        request = join(member_id, group=self.name, **LONG)
        return self.ask_later(request, JoinGroupResponse, OLD_VERSION)

    def beat(self, member_id: str, generation: int) -> ErrorCode:
        request = heartbeat(member_id, generation, group=self.name)
        return ErrorCode(self.ask(request, HeartbeatResponse, 4).error_code)

    def describe(self) -> Any:
        asked = DescribeGroupsRequest(groups=[self.name])
        return self.ask(asked, DescribeGroupsResponse, 5).groups[0]

    def wait_for_members(self, number: int) -> None:
        wait_for(
            f"{number} members",
            self.describe,
            lambda told: len(told.members) == number,
        )

    def close(self) -> None:
        self._pool.shutdown()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    config = {"offsets.topic.num.partitions": 1}
    with Cluster(brokers=3, config=config, data_dir=folder / "data") as kafka:
        yield kafka


@pytest.fixture
def group(cluster: Cluster) -> Iterator[Group]:
    group = Group(cluster)
    group.look_up()
    yield group
    group.close()


@pytest.fixture
def first(group: Group) -> str:
    """A member that has an assignment, in generation 1."""
    member_id = str(group.join().member_id)
    assigned = group.ask(
        sync(member_id, 1, {member_id: b"all"}, group=group.name), SyncGroupResponse, 5
    )
    assert assigned.assignment == b"all"
    return member_id


def join_both(group: Group, first: str) -> tuple[str, int]:
    """A second member joins, and the first again; the second's id and the generation."""
    waiting = group.join_later()
    group.wait_for_members(2)
    joined = group.join(first)
    assert not joined.error_code
    return str(waiting.result().member_id), int(joined.generation_id)


def test_killed_while_a_member_waits_to_join(group: Group, first: str) -> None:
    """The others' generation goes on; who waited asks again."""
    waiting = group.join_later()
    group.wait_for_members(2)
    assert group.beat(first, 1) == ErrorCode.REBALANCE_IN_PROGRESS
    group.kill_coordinator()
    with pytest.raises(ClientError):
        waiting.result()
    assert group.beat(first, 1) == ErrorCode.NONE
    assert group.describe().members[0].member_assignment == b"all"
    assert join_both(group, first)[1] == 2


def test_killed_while_members_wait_for_their_assignment(group: Group, first: str) -> None:
    """Nobody was told of that generation's assignment: it is as if it had not been."""
    second, generation = join_both(group, first)
    assert generation == 2
    waiting = group.ask_later(sync(second, 2, group=group.name), SyncGroupResponse, 5)
    group.kill_coordinator()
    with pytest.raises(ClientError):
        waiting.result()
    assert group.beat(first, 2) == ErrorCode.ILLEGAL_GENERATION
    assert group.beat(second, 2) == ErrorCode.UNKNOWN_MEMBER_ID
    assert group.beat(first, 1) == ErrorCode.NONE
    assert join_both(group, first)[1] == 2


def test_killed_after_an_assignment_was_told(group: Group, first: str) -> None:
    """The next coordinator knows it, and that generation fences the one before."""
    second, generation = join_both(group, first)
    given = {first: b"one", second: b"two"}
    told = group.ask(sync(first, generation, given, group=group.name), SyncGroupResponse, 5)
    assert told.assignment == b"one"
    group.kill_coordinator()
    asked = group.ask(sync(second, generation, group=group.name), SyncGroupResponse, 5)
    assert asked.assignment == b"two"
    assert group.beat(first, generation) == ErrorCode.NONE
    assert group.beat(first, generation - 1) == ErrorCode.ILLEGAL_GENERATION
