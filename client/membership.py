"""A member of a consumer group (classic protocol, eager): join, sync, heartbeat, leave.

Nothing runs in the background: whoever reads calls `must_rejoin` between its reads, and has to do
so within the session time-out. The assignor is Kafka's range; a group whose members all know
another one alone refuses this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from logquake.client.commits import Committer
from logquake.client.consumer.assignors.assignor import without_racks
from logquake.client.consumer.assignors.range import RangeAssignor
from logquake.client.consumer.assignors.subscriptions import (
    CONSUMERS,
    Subscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from logquake.client.coordinators import group_coordinator
from logquake.client.errors import BrokerError, check
from logquake.client.routing import Router
from logquake.wire.errors import ErrorCode
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
from logquake.wire.topic_partition import TopicPartition

_ASSIGNOR = RangeAssignor()
_JOIN_AGAIN = (
    ErrorCode.MEMBER_ID_REQUIRED,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.REBALANCE_IN_PROGRESS,
)


@dataclass(frozen=True, slots=True)
class MembershipSettings:
    """Under the consumer's names."""

    # Who is silent for longer is no member any more, and others read its partitions.
    session_timeout_ms: int = 10_000
    heartbeat_interval_ms: int = 3_000
    # max.poll.interval.ms: how long the group waits for this one when it rebalances.
    rebalance_timeout_ms: int = 30_000


class Membership:
    """All methods raise ClientError: BrokerError where the group does not take this member."""

    def __init__(
        self,
        router: Router,
        group_id: str,
        topics: Sequence[str],
        settings: MembershipSettings | None = None,
    ) -> None:
        self._router = router
        self._topics = sorted(topics)
        self._settings = settings or MembershipSettings()
        self._committer = Committer(group_id)
        self._heartbeat_due_ms = 0

    @property
    def committer(self) -> Committer:
        """What a commit says of this member in its present generation."""
        return self._committer

    def join(self) -> tuple[TopicPartition, ...]:
        """Wait for the next generation; returns what this member reads in it."""
        while True:
            try:
                assigned = self._next_generation()
            except BrokerError as error:
                if error.code not in _JOIN_AGAIN:
                    raise
                if error.code is ErrorCode.UNKNOWN_MEMBER_ID:
                    self._committer = Committer(self._committer.group_id)
            else:
                self._put_off_heartbeat()
                return assigned

    def must_rejoin(self) -> bool:
        """Beats if it is time to; whether the group goes into another generation."""
        if self._router.clock.now_ms() < self._heartbeat_due_ms:
            return False
        self._put_off_heartbeat()
        try:
            self._router.with_retries(self._beat, self._settings.session_timeout_ms)
        except BrokerError as error:
            if error.code in _JOIN_AGAIN:
                return True
            raise
        return False

    def leave(self) -> None:
        """Tell the group, which then need not wait for the session to end. Asked once."""
        member = MemberIdentity(member_id=self._committer.member_id)
        request = LeaveGroupRequest(group_id=self._committer.group_id, members=[member])
        answer = group_coordinator(self._router, self._committer.group_id).request(
            request, LeaveGroupResponse
        )
        check(answer.error_code, f"leaving group {self._committer.group_id}")

    def _next_generation(self) -> tuple[TopicPartition, ...]:
        joined = self._router.with_retries(self._join)
        return self._router.with_retries(lambda: self._sync(joined))

    def _join(self) -> JoinGroupResponse:
        settings = self._settings
        wish = encode_subscription(Subscription(tuple(self._topics)))
        request = JoinGroupRequest(
            group_id=self._committer.group_id,
            session_timeout_ms=settings.session_timeout_ms,
            rebalance_timeout_ms=settings.rebalance_timeout_ms,
            member_id=self._committer.member_id,
            protocol_type=CONSUMERS,
            protocols=[JoinGroupRequestProtocol(name=_ASSIGNOR.name, metadata=wish)],
        )
        # A coordinator answers when the others have come, or their time is over.
        wait_ms = settings.rebalance_timeout_ms + self._router.settings.request_timeout_ms
        answer = group_coordinator(self._router, self._committer.group_id).request(
            request, JoinGroupResponse, timeout_ms=wait_ms
        )
        if answer.error_code in (ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED):
            self._committer = Committer(
                self._committer.group_id, answer.generation_id, answer.member_id
            )
        check(answer.error_code, f"joining group {self._committer.group_id}")
        return answer

    def _sync(self, joined: JoinGroupResponse) -> tuple[TopicPartition, ...]:
        request = SyncGroupRequest(
            group_id=self._committer.group_id,
            generation_id=joined.generation_id,
            member_id=joined.member_id,
            protocol_type=CONSUMERS,
            protocol_name=joined.protocol_name,
            assignments=self._assignments(joined),
        )
        wait_ms = self._settings.rebalance_timeout_ms + self._router.settings.request_timeout_ms
        answer = group_coordinator(self._router, self._committer.group_id).request(
            request, SyncGroupResponse, timeout_ms=wait_ms
        )
        check(answer.error_code, f"assignment of group {self._committer.group_id}")
        return decode_assignment(answer.assignment)

    def _assignments(self, joined: JoinGroupResponse) -> list[SyncGroupRequestAssignment]:
        """Of all members where this one leads; the others hand in nothing."""
        if joined.leader != joined.member_id:
            return []
        wishes = {
            each.member_id: decode_subscription(each.metadata, each.group_instance_id)
            for each in joined.members
        }
        names = sorted({topic for wish in wishes.values() for topic in wish.topics})
        counts = {
            topic.name or "": len(topic.partitions) for topic in self._router.metadata(names).topics
        }
        given = _ASSIGNOR.assign(without_racks(counts), wishes)
        return [
            SyncGroupRequestAssignment(member_id=member_id, assignment=encode_assignment(places))
            for member_id, places in given.items()
        ]

    def _beat(self) -> None:
        request = HeartbeatRequest(
            group_id=self._committer.group_id,
            generation_id=self._committer.generation_id,
            member_id=self._committer.member_id,
        )
        answer = group_coordinator(self._router, self._committer.group_id).request(
            request, HeartbeatResponse
        )
        check(answer.error_code, f"heartbeat to group {self._committer.group_id}")

    def _put_off_heartbeat(self) -> None:
        self._heartbeat_due_ms = self._router.clock.now_ms() + self._settings.heartbeat_interval_ms
