"""One group of a cluster, asked by hand at whoever coordinates it, ours or Kafka's."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from typing import Any

from logquake.client.errors import ClientError
from logquake.cluster.running.cluster import RunningCluster
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from logquake.wire.messages.group_admin import DescribeGroupsRequest, DescribeGroupsResponse
from logquake.wire.messages.group_membership import (
    HeartbeatResponse,
    JoinGroupResponse,
)
from logquake.wire.schema import Message
from tests.one_broker import OneBroker
from tests.unit.node.requests.group_members import heartbeat, join
from tests.waiting import wait_for

OLD_VERSION = 3  # of JoinGroup: members have their id at once
LONG = {"session_timeout_ms": 600_000, "rebalance_timeout_ms": 600_000}

_groups = count()


class Group:
    """One group, asked at whoever coordinates it."""

    def __init__(self, cluster: RunningCluster) -> None:
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

    def ask(self, request: Message, answer: type[Message], version: int) -> Any:
        return self._there.ask(request, answer, version)

    def ask_later(self, request: Message, answer: type[Message], version: int) -> Future[Any]:
        """What waits for others; it fails if its coordinator is killed.

        Whom it asks is decided now: by the time that it asks another may have been looked up.
        """
        return self._pool.submit(self._there.ask, request, answer, version)

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
