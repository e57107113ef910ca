"""The group of a member that is alone in it: it leads, and gets what it assigns."""

from __future__ import annotations

from logquake.wire.api import ApiKey
from logquake.wire.messages import find_coordinator, group_offsets
from logquake.wire.messages import group_membership as membership
from logquake.wire.schema import Message

VERSIONS = {
    ApiKey.FIND_COORDINATOR: 3,
    ApiKey.JOIN_GROUP: 8,
    ApiKey.SYNC_GROUP: 5,
    ApiKey.HEARTBEAT: 4,
    ApiKey.LEAVE_GROUP: 5,
    ApiKey.OFFSET_FETCH: 7,
}
"""The last ones that its coordinator speaks."""


class LoneMembersGroup:
    """Broker 1 coordinates it, which is at ``host`` and ``port``. Nothing is committed."""

    def __init__(self, host: str, port: int) -> None:
        self._found = find_coordinator.FindCoordinatorResponse(node_id=1, host=host, port=port)
        self._generation = 0

    def answer(self, request: Message) -> Message | None:
        """None where it is not about a group."""
        match request:
            case find_coordinator.FindCoordinatorRequest():
                return self._found
            case membership.JoinGroupRequest():
                return self._joined(request)
            case membership.SyncGroupRequest():
                return membership.SyncGroupResponse(assignment=request.assignments[0].assignment)
            case membership.HeartbeatRequest():
                return membership.HeartbeatResponse()
            case membership.LeaveGroupRequest():
                return membership.LeaveGroupResponse()
            case group_offsets.OffsetFetchRequest():
                return _nothing_committed(request)
        return None

    def _joined(self, request: membership.JoinGroupRequest) -> Message:
        self._generation += 1
        wish = request.protocols[0]
        return membership.JoinGroupResponse(
            generation_id=self._generation,
            protocol_type=request.protocol_type,
            protocol_name=wish.name,
            leader="m1",
            member_id="m1",
            members=[membership.JoinGroupResponseMember(member_id="m1", metadata=wish.metadata)],
        )


def _nothing_committed(request: group_offsets.OffsetFetchRequest) -> Message:
    return group_offsets.OffsetFetchResponse(
        topics=[
            group_offsets.OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    group_offsets.OffsetFetchResponsePartition(
                        partition_index=at, committed_offset=-1, metadata=""
                    )
                    for at in topic.partition_indexes
                ],
            )
            for topic in request.topics or []
        ]
    )
