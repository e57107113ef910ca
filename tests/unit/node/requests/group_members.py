"""Members of a group, asking a LoneBroker that coordinates it."""

from __future__ import annotations

from typing import Any

from logquake.wire.messages.find_coordinator import FindCoordinatorRequest
from logquake.wire.messages.group_membership import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    LeaveGroupRequest,
    MemberIdentity,
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from logquake.wire.schema import Message
from tests.unit.node.requests.lone_broker import LoneBroker

GROUP = "readers"

COORDINATING = {
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
}


def coordinate(broker: LoneBroker) -> None:
    """Let the topic be made that groups are kept in."""
    broker.ask(FindCoordinatorRequest(key=GROUP), 0)
    broker.settle()


class Asked:
    """A request whose answer may come later."""

    def __init__(self, broker: LoneBroker, request: Message, version: int) -> None:
        self.answers: list[Any] = []
        broker.serve(request, version, self.answers.append)
        broker.settle()

    @property
    def answer(self) -> Any:
        (answer,) = self.answers
        return answer


def join(member_id: str = "", *, group: str = GROUP, **fields: Any) -> JoinGroupRequest:
    settings: dict[str, Any] = {
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 60_000,
        "protocol_type": "consumer",
        "protocols": [JoinGroupRequestProtocol(name="range", metadata=b"said")],
    }
    return JoinGroupRequest(group_id=group, member_id=member_id, **{**settings, **fields})


def sync(
    member_id: str,
    generation: int,
    assignments: dict[str, bytes] | None = None,
    *,
    version: int = 5,
    group: str = GROUP,
    **fields: Any,
) -> SyncGroupRequest:
    given = [
        SyncGroupRequestAssignment(member_id=each, assignment=assignment)
        for each, assignment in (assignments or {}).items()
    ]
    protocol = {"protocol_type": "consumer", "protocol_name": "range"} if version >= 5 else {}
    return SyncGroupRequest(
        group_id=group,
        member_id=member_id,
        generation_id=generation,
        assignments=given,
        **{**protocol, **fields},
    )


def heartbeat(
    member_id: str, generation: int, *, group: str = GROUP, **fields: Any
) -> HeartbeatRequest:
    return HeartbeatRequest(group_id=group, member_id=member_id, generation_id=generation, **fields)


def leave(*member_ids: str, version: int = 5, group: str = GROUP) -> LeaveGroupRequest:
    if version < 3:
        return LeaveGroupRequest(group_id=group, member_id=member_ids[0])
    members = [MemberIdentity(member_id=each) for each in member_ids]
    return LeaveGroupRequest(group_id=group, members=members)


class LoneMember:
    """The one member of a group, with an assignment."""

    def __init__(self, broker: LoneBroker, group: str = GROUP) -> None:
        joined = Asked(broker, join(group=group), 3)
        broker.scheduler.advance(0)
        broker.settle()
        self.member_id, self.generation = joined.answer.member_id, joined.answer.generation_id
        given = {self.member_id: b"given"}
        broker.ask(sync(self.member_id, self.generation, given, group=group), 5)
