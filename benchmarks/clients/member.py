"""A member of a group, as a consumer of one topic is one. Each gets one partition."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.clients.cluster import (
    NOT_YET,
    RETRY_S,
    Cluster,
    CoordinatorKind,
    Lines,
    find_coordinator,
)
from benchmarks.clients.driver import Pause, until
from benchmarks.clients.line import Line, check, request_frame
from benchmarks.errors import BenchmarkError
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.consumer_protocol import (
    AssignedTopicPartitions,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from logquake.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from logquake.wire.messages.group_membership import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    JoinGroupResponseMember,
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from logquake.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from logquake.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from logquake.wire.versioned import decode_versioned, encode_versioned

HEARTBEAT_VERSION, COMMIT_VERSION = 4, 9

_JOIN_VERSION, _SYNC_VERSION, _LEAVE_VERSION = 9, 5, 5
_OFFSET_FETCH_VERSION, _LIST_OFFSETS_VERSION, _FETCH_VERSION = 9, 7, 12
_CONSUMER_PROTOCOL_VERSION = 3
_PROTOCOL_TYPE, _PROTOCOL = "consumer", "range"
_SESSION_TIMEOUT_MS = 45_000
_REBALANCE_TIMEOUT_MS = 60_000
_MAX_WAIT_MS = 500
_MAX_BYTES = 1 << 20
_CONSUMER = -1
_EARLIEST = -2


class Member:
    """Over connections of its own. Raises BenchmarkError when it is refused what it asks for."""

    def __init__(self, lines: Lines, cluster: Cluster, group: str) -> None:
        self.id = ""
        self.partition: int | None = None
        self._group = group
        self._lines = lines
        self._cluster = cluster
        self._generation = -1
        self.coordinator: Line = next(iter(lines.values()))

    async def subscribe(self) -> None:
        """Until it has its place in a generation."""
        self.coordinator = await find_coordinator(self._lines, CoordinatorKind.GROUP, self._group)
        await self.enter()

    async def enter(self) -> None:
        """The same of a member that knows its coordinator."""
        while not await self._sync(await self._join()):
            pass

    async def is_settled(self) -> bool:
        """A heartbeat: False while the group rebalances."""
        answer = await self.coordinator.ask(self._heartbeat(), HeartbeatResponse, HEARTBEAT_VERSION)
        if answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
            return False
        check(answer.error_code, "Heartbeat")
        return True

    async def read_first(self) -> None:
        """The first record of its partition, to which nobody has committed."""
        if self.partition is None:
            raise BenchmarkError("a member without a partition")
        await self._fetch_offset(self.partition)
        leader = self._lines[self._cluster.leaders[self.partition]]
        await self._fetch(leader, self.partition, await self._earliest(leader, self.partition))

    async def leave(self, *others: Member) -> None:
        """With others of its group, by one request."""
        leaving = [MemberIdentity(member_id=each.id) for each in (self, *others)]
        request = LeaveGroupRequest(group_id=self._group, members=leaving)
        answer = await self.coordinator.ask(request, LeaveGroupResponse, _LEAVE_VERSION)
        for code in (answer.error_code, *(each.error_code for each in answer.members)):
            check(code, "LeaveGroup")

    def heartbeat_frame(self) -> bytes:
        return request_frame(self._heartbeat(), HEARTBEAT_VERSION)

    def commit_frame(self, offset: int) -> bytes:
        """Of the partition that it was assigned."""
        if self.partition is None:
            raise BenchmarkError("a member without a partition")
        committed = OffsetCommitRequestPartition(
            partition_index=self.partition,
            committed_offset=offset,
            committed_leader_epoch=0,
            committed_metadata="",
        )
        request = OffsetCommitRequest(
            group_id=self._group,
            generation_id_or_member_epoch=self._generation,
            member_id=self.id,
            topics=[OffsetCommitRequestTopic(name=self._cluster.topic, partitions=[committed])],
        )
        return request_frame(request, COMMIT_VERSION)

    async def _join(self) -> JoinGroupResponse:
        while True:
            answer = await self.coordinator.ask(self._joining(), JoinGroupResponse, _JOIN_VERSION)
            if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                self.id = answer.member_id
            elif answer.error_code in NOT_YET:
                await until(Pause(RETRY_S))
            else:
                check(answer.error_code, "JoinGroup")
                self._generation = answer.generation_id
                return answer

    async def _sync(self, joined: JoinGroupResponse) -> bool:
        """False when the next rebalance has begun already."""
        leads = joined.leader == self.id
        request = SyncGroupRequest(
            group_id=self._group,
            generation_id=self._generation,
            member_id=self.id,
            protocol_type=_PROTOCOL_TYPE,
            protocol_name=_PROTOCOL,
            assignments=self._assign(joined.members) if leads else [],
        )
        answer = await self.coordinator.ask(request, SyncGroupResponse, _SYNC_VERSION)
        if answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
            return False
        check(answer.error_code, "SyncGroup")
        assigned = decode_versioned(ConsumerProtocolAssignment, answer.assignment)
        (self.partition,) = assigned.assigned_partitions[0].partitions
        return True

    def _joining(self) -> JoinGroupRequest:
        subscription = ConsumerProtocolSubscription(topics=[self._cluster.topic])
        metadata = encode_versioned(subscription, _CONSUMER_PROTOCOL_VERSION)
        return JoinGroupRequest(
            group_id=self._group,
            session_timeout_ms=_SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=_REBALANCE_TIMEOUT_MS,
            member_id=self.id,
            protocol_type=_PROTOCOL_TYPE,
            protocols=[JoinGroupRequestProtocol(name=_PROTOCOL, metadata=metadata)],
        )

    def _assign(
        self, members: Sequence[JoinGroupResponseMember]
    ) -> list[SyncGroupRequestAssignment]:
        """One partition each."""
        return [
            SyncGroupRequestAssignment(member_id=member_id, assignment=self._assignment(index))
            for index, member_id in enumerate(sorted(each.member_id for each in members))
        ]

    def _assignment(self, partition: int) -> bytes:
        mine = AssignedTopicPartitions(topic=self._cluster.topic, partitions=[partition])
        assignment = ConsumerProtocolAssignment(assigned_partitions=[mine])
        return encode_versioned(assignment, _CONSUMER_PROTOCOL_VERSION)

    def _heartbeat(self) -> HeartbeatRequest:
        return HeartbeatRequest(
            group_id=self._group, generation_id=self._generation, member_id=self.id
        )

    async def _fetch_offset(self, partition: int) -> None:
        topic = OffsetFetchRequestTopics(name=self._cluster.topic, partition_indexes=[partition])
        group = OffsetFetchRequestGroup(group_id=self._group, topics=[topic])
        request = OffsetFetchRequest(groups=[group], require_stable=True)
        answer = await self.coordinator.ask(request, OffsetFetchResponse, _OFFSET_FETCH_VERSION)
        (found,) = answer.groups
        check(found.error_code, "OffsetFetch")

    async def _earliest(self, leader: Line, partition: int) -> int:
        asked = ListOffsetsPartition(partition_index=partition, timestamp=_EARLIEST)
        topic = ListOffsetsTopic(name=self._cluster.topic, partitions=[asked])
        request = ListOffsetsRequest(replica_id=_CONSUMER, topics=[topic])
        answer = await leader.ask(request, ListOffsetsResponse, _LIST_OFFSETS_VERSION)
        (found,) = answer.topics[0].partitions
        check(found.error_code, "ListOffsets")
        return found.offset

    async def _fetch(self, leader: Line, partition: int, offset: int) -> None:
        asked = FetchPartition(
            partition=partition, fetch_offset=offset, partition_max_bytes=_MAX_BYTES
        )
        request = FetchRequest(
            max_wait_ms=_MAX_WAIT_MS,
            min_bytes=1,
            topics=[FetchTopic(topic=self._cluster.topic, partitions=[asked])],
        )
        answer = await leader.ask(request, FetchResponse, _FETCH_VERSION)
        (found,) = answer.responses[0].partitions
        check(found.error_code or answer.error_code, "Fetch")
        if not found.records:
            raise BenchmarkError("a partition without a record")
