"""A coordinator of one member's group, as far as that member can tell; it may answer anything."""

from __future__ import annotations

from random import Random

from logquake.client.consumer.assignors.subscriptions import CONSUMERS, encode_assignment
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from logquake.wire.messages.group_membership import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    JoinGroupResponseMember,
    LeaveGroupRequest,
    LeaveGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from logquake.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition

PORT = 9092
PARTITIONS = 4
MEMBER, OTHER = "m1", "m2"
# What a coordinator may say to any of it, whether or not it makes sense.
REFUSALS = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
    ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.UNSTABLE_OFFSET_COMMIT,
    ErrorCode.REQUEST_TIMED_OUT,
)


class ModelCoordinator:
    """The member leads, or follows one that may give it anything. ``generation`` is
    the last one; ``committed`` are the offsets that were written, with the generation of who did.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self.generation = 0
        self._leads = False
        self.committed: list[tuple[int, dict[TopicPartition, int]]] = []

    def answer(self, request: Message, *, refuses: bool) -> Message:
        code = self._random.choice(REFUSALS) if refuses else ErrorCode.NONE
        match request:
            case FindCoordinatorRequest():
                found = Coordinator(key="g", node_id=1, host="one", port=PORT, error_code=code)
                return FindCoordinatorResponse(coordinators=[found])
            case JoinGroupRequest():
                return self._join(request, code)
            case SyncGroupRequest():
                return self._sync(request, code)
            case HeartbeatRequest():
                return HeartbeatResponse(error_code=code)
            case LeaveGroupRequest():
                return LeaveGroupResponse(error_code=code)
            case OffsetCommitRequest():
                return self._commit(request, code)
            case OffsetFetchRequest():
                return _fetched(request, code)
        raise AssertionError(f"nobody expects {type(request).__name__}")

    def nonsense(self, request: Message) -> Message:
        """What no coordinator says."""
        strange = encode_assignment([TopicPartition("?", -7)]) + b"more"
        match request:
            case FindCoordinatorRequest():
                lost = Coordinator(key="g", node_id=-1, host="", port=-1)
                return FindCoordinatorResponse(coordinators=self._random.choice([[], [lost]]))
            case JoinGroupRequest():
                member = JoinGroupResponseMember(member_id=MEMBER, metadata=b"\xff\xff\xff")
                return JoinGroupResponse(
                    error_code=ErrorCode.NONE,
                    generation_id=self._random.choice([-1, self.generation]),
                    protocol_type=self._random.choice([None, "connect", CONSUMERS]),
                    protocol_name=self._random.choice(["?", request.protocols[0].name]),
                    leader=self._random.choice([MEMBER, OTHER, ""]),
                    member_id=self._random.choice([MEMBER, ""]),
                    members=[member, member],
                )
            case SyncGroupRequest():
                given = self._random.choice([b"", b"\xff\xff\xff", strange])
                return SyncGroupResponse(error_code=ErrorCode.NONE, assignment=given)
            case OffsetCommitRequest():
                return OffsetCommitResponse()
            case OffsetFetchRequest():
                return OffsetFetchResponse()
        return self.answer(request, refuses=True)

    def _join(self, request: JoinGroupRequest, code: ErrorCode) -> JoinGroupResponse:
        if code is ErrorCode.NONE and not request.member_id:
            code = ErrorCode.MEMBER_ID_REQUIRED
        if code is not ErrorCode.NONE:
            return JoinGroupResponse(error_code=code, member_id=MEMBER, protocol_name="", leader="")
        self.generation += 1
        self._leads = self._random.random() < 0.5
        mine = request.protocols[0]
        members = [
            JoinGroupResponseMember(member_id=name, metadata=mine.metadata)
            for name in (MEMBER, OTHER)
        ]
        return JoinGroupResponse(
            error_code=code,
            generation_id=self.generation,
            protocol_type=CONSUMERS,
            protocol_name=mine.name,
            leader=MEMBER if self._leads else OTHER,
            member_id=request.member_id,
            members=members if self._leads else [],
        )

    def _sync(self, request: SyncGroupRequest, code: ErrorCode) -> SyncGroupResponse:
        given = {each.member_id: each.assignment for each in request.assignments}
        count = self._random.randrange(PARTITIONS + 1)
        places = [TopicPartition("t", at) for at in self._random.sample(range(PARTITIONS), count)]
        assignment = given.get(MEMBER, encode_assignment(places))
        return SyncGroupResponse(
            error_code=code, assignment=b"" if code is not ErrorCode.NONE else assignment
        )

    def _commit(self, request: OffsetCommitRequest, code: ErrorCode) -> OffsetCommitResponse:
        offsets = {
            TopicPartition(topic.name, one.partition_index): one.committed_offset
            for topic in request.topics
            for one in topic.partitions
        }
        if code is ErrorCode.NONE:
            self.committed.append((request.generation_id_or_member_epoch, offsets))
        return OffsetCommitResponse(
            topics=[
                OffsetCommitResponseTopic(
                    name=topic,
                    partitions=[OffsetCommitResponsePartition(partition_index=at, error_code=code)],
                )
                for topic, at in offsets
            ]
        )


def _fetched(request: OffsetFetchRequest, code: ErrorCode) -> OffsetFetchResponse:
    topics = [
        OffsetFetchResponseTopics(
            name=topic.name,
            partitions=[
                OffsetFetchResponsePartitions(
                    partition_index=at,
                    committed_offset=at - 1,  # of the first nothing
                    metadata="",
                    error_code=ErrorCode.NONE,
                )
                for at in topic.partition_indexes
            ],
        )
        for topic in request.groups[0].topics or []
    ]
    group = OffsetFetchResponseGroup(group_id="g", topics=topics, error_code=code)
    return OffsetFetchResponse(groups=[group])
