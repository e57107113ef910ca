"""A member's way through the generations of its group (AbstractCoordinator).

The core's half: what it asks its coordinator, and what the answers mean. The program's half, what
it gives up before a member joins and is given afterwards, is `rebalancing.py`; heartbeats are
`keeping_alive.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

from logquake.client.consumer.assignors.assignor import Assignment, Assignor, Held
from logquake.client.consumer.assignors.subscriptions import (
    CONSUMERS,
    Subscription,
    decode_assignment,
    encode_subscription,
)
from logquake.client.consumer.group import requests
from logquake.client.consumer.group.coordinator import Coordinator
from logquake.client.consumer.group.election import Election
from logquake.client.consumer.group.generation import (
    Electing,
    Generation,
    Halted,
    Joined,
    Joining,
    Out,
    Rebalancing,
    Stable,
    Stage,
    Syncing,
    ToJoin,
)
from logquake.client.consumer.group.heartbeat import Heartbeat
from logquake.client.consumer.group.settings import GroupSettings
from logquake.client.consumer.group.statistics import GroupEventKind, GroupStatistics
from logquake.client.consumer.group.topic_watch import TopicWatch
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.errors import (
    AssignorError,
    BrokerError,
    ClientError,
    MalformedResponseError,
    broker_error,
)
from logquake.client.network.link import Answer
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_membership import (
    JoinGroupResponse,
    SyncGroupResponse,
)

_LOG = logging.getLogger(__name__)

NO_COORDINATOR = (ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR)
OUTLIVED = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION)
_JOIN_AT_ONCE = (*OUTLIVED, ErrorCode.MEMBER_ID_REQUIRED, ErrorCode.REBALANCE_IN_PROGRESS)
_SHORTEST_ASSIGNMENT = 2  # its version


class Membership:
    """``rejoin_reason`` is why to join again, as the coordinator is told (KIP-800); None: not."""

    def __init__(
        self,
        settings: GroupSettings,
        coordinator: Coordinator,
        subscriptions: Subscriptions,
        watch: TopicWatch,
        assignors: Sequence[Assignor],
        election: Election,
        heartbeat: Heartbeat,
        statistics: GroupStatistics,
    ) -> None:
        self.stage: Stage = Out()
        self.generation = Generation()
        self.rejoin_reason: str | None = ""
        self._settings = settings
        self._coordinator = coordinator
        self._subscriptions = subscriptions
        self._watch = watch
        self._assignors = assignors
        self._election = election
        self._heartbeat = heartbeat
        self._statistics = statistics
        self._held: Held | None = None
        self.failure: ClientError | None = None  # the program has not heard of it yet

    # What others go by

    @property
    def is_stable(self) -> bool:
        """A commit counts as this generation's."""
        return isinstance(self.stage, Joined | Stable)

    @property
    def is_rebalancing(self) -> bool:
        return isinstance(self.stage, Rebalancing)

    @property
    def needs_preparation(self) -> bool:
        """It has to join, and the program has to give up what it must first."""
        return self.rejoin_reason is not None and isinstance(self.stage, Out | Stable)

    # What the program does

    def polled(self, now_ms: int) -> None:
        """Raises BrokerError where another one is this static member now."""
        self._heartbeat.polled(now_ms)
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure

    def join(self, now_ms: int) -> None:
        """It has given up what it had to."""
        self._statistics.rebalance_began(now_ms)
        self.stage = ToJoin(now_ms)

    def resume(self, halted: Halted) -> None:
        """The program has heard why, and polls again."""
        error = halted.error
        self.stage = ToJoin(0) if error is None else Halted(None)
        if error is not None:
            raise error

    def completed(self, joined: Joined) -> None:
        """The program has heard what it was assigned; meanwhile all may have been lost."""
        if self.stage is joined:
            self.stage = Stable()

    def assigned(self, joined: Joined) -> None:
        """What a sticky assignor remembers."""
        self._held = Held(joined.places, self.generation.id)

    def request_rejoin(self, reason: str) -> None:
        self.rejoin_reason = reason

    def notice(self) -> None:
        """Whatever is other than the group has heard."""
        if isinstance(self.stage, Stable) and self.rejoin_reason is None:
            self.rejoin_reason = self._watch.reason_to_rejoin()

    def leave(self, reason: str) -> None:
        """A static member only forgets: the group keeps its place until the session ends."""
        is_dynamic = self._settings.instance_id is None
        if is_dynamic and self.generation.member_id and not isinstance(self.stage, Out):
            self._coordinator.ask(requests.leave(self._settings, self.generation, reason))
        self.reset("consumer pro-actively leaving the group")

    def reset(self, reason: str, *, keep_member_id: bool = False) -> None:
        """What it was is over; with the id kept the coordinator need not wait for the old one."""
        _LOG.info("out of group %s: %s", self._settings.group_id, reason)
        self._statistics.tell(GroupEventKind.OUT, reason)
        member_id = self.generation.member_id if keep_member_id else Generation().member_id
        self.generation = Generation(member_id=member_id)
        self.stage = Out()
        self.rejoin_reason = reason

    # As a core

    def poll(self, now_ms: int) -> None:
        if not self._subscriptions.is_of_group:
            return
        self._watch.update()
        self.notice()
        if isinstance(self.stage, ToJoin):
            self._join(self.stage, now_ms)
        elif isinstance(self.stage, Electing):
            self._elect(self.stage, now_ms)

    def next_due_ms(self, now_ms: int) -> int | None:
        if isinstance(self.stage, ToJoin) and self.stage.not_before_ms > now_ms:
            return self.stage.not_before_ms
        return None

    # Joining

    def _join(self, stage: ToJoin, now_ms: int) -> None:
        """Not of a program that is stuck: it will have to poll first."""
        if stage.not_before_ms > now_ms or self._heartbeat.poll_ends_ms <= now_ms:
            return
        if not self._coordinator.find():
            return
        try:
            wishes = self._wishes()
        except Exception as error:  # noqa: BLE001 - an assignor of the program's may raise any
            self._halt_for_assignor(error)
            return
        joining = self.stage = Joining(self.generation)
        self._watch.joins()
        reason, done = self.rejoin_reason or "", partial(self._on_joined, joining, now_ms)
        _LOG.info("joining group %s: %s", self._settings.group_id, reason or "for the first time")
        self._statistics.tell(GroupEventKind.JOINS, reason)
        self._coordinator.ask(requests.join(self._settings, self.generation, wishes, reason, done))

    def _wishes(self) -> dict[str, bytes]:
        wish = Subscription(
            tuple(self._subscriptions.topics),
            tuple(self._subscriptions.assigned),
            self.generation.id,
            self._settings.rack or None,
        )
        return {
            each.name: encode_subscription(wish.with_user_data(each.user_data(self._held)))
            for each in self._assignors
        }

    def _on_joined(self, joining: Joining, sent_ms: int, answer: Answer, now_ms: int) -> None:
        if self.stage is not joining:
            return  # it has left, or knows that it is no member
        if not isinstance(answer, JoinGroupResponse):
            self._failed(answer, now_ms)
        elif answer.error_code == ErrorCode.NONE:
            self._statistics.joins.add(now_ms - sent_ms, now_ms)
            self._take_generation(answer, now_ms)
        elif answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.generation = Generation(member_id=answer.member_id)
            self.rejoin_reason = f"need to re-join with the given member-id: {answer.member_id}"
            self.stage = ToJoin(now_ms)
        else:
            self._refused(answer.error_code, "joining", now_ms)

    def _take_generation(self, joined: JoinGroupResponse, now_ms: int) -> None:
        name = joined.protocol_name
        if not self._is_consumers(joined.protocol_type):
            return
        if name not in {each.name for each in self._assignors}:
            self._halt(MalformedResponseError(f"the coordinator has chosen an assignor {name}"))
            return
        generation = Generation(joined.generation_id, joined.member_id, name)
        if not generation.is_known:
            self._halt(MalformedResponseError("joined as nobody, or in no generation"))
            return
        self.generation = generation
        _LOG.info(
            "%s is in generation %d of group %s, which goes by %s",
            joined.member_id,
            joined.generation_id,
            self._settings.group_id,
            name,
        )
        self._heartbeat.begin(now_ms)
        if joined.leader != joined.member_id:
            self._sync({}, now_ms)
            return
        try:
            self.stage = self._election.begin(joined, now_ms)
        except ClientError as error:
            self._halt(error)

    # The assignment

    def _elect(self, stage: Electing, now_ms: int) -> None:
        try:
            decided = self._election.go_on(stage, self.generation.protocol)
        except Exception as error:  # noqa: BLE001 - an assignor of the program's may raise any
            self._halt_for_assignor(error)
            return
        if isinstance(decided, Electing):
            self.stage = decided
        else:
            self._sync(decided, now_ms)

    def _sync(self, given: Assignment, now_ms: int) -> None:
        syncing = self.stage = Syncing()
        done = partial(self._on_synced, syncing, now_ms)
        self._coordinator.ask(requests.sync(self._settings, self.generation, given, done))

    def _on_synced(self, syncing: Syncing, sent_ms: int, answer: Answer, now_ms: int) -> None:
        if self.stage is not syncing:
            return
        if not isinstance(answer, SyncGroupResponse):
            self._failed(answer, now_ms)
        elif answer.error_code == ErrorCode.NONE:
            self._statistics.syncs.add(now_ms - sent_ms, now_ms)
            self._take_assignment(answer, now_ms)
        else:
            self._refused(answer.error_code, "assignment", now_ms)

    def _take_assignment(self, synced: SyncGroupResponse, now_ms: int) -> None:
        if not self._is_consumers(synced.protocol_type):
            return
        if synced.protocol_name not in (None, self.generation.protocol):
            why = f"assigned by {synced.protocol_name}, not {self.generation.protocol}"
            self._halt(broker_error(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, why))
            return
        try:
            if len(synced.assignment) < _SHORTEST_ASSIGNMENT:
                raise MalformedResponseError("the group's leader has not thought of this member")
            self.stage = Joined(decode_assignment(synced.assignment))
        except MalformedResponseError as error:
            self._halt(error)
            return
        self.rejoin_reason = None
        self._statistics.rebalance_ended(now_ms)

    def _is_consumers(self, protocol_type: str | None) -> bool:
        """What brokers that tell it say of the group (KIP-559)."""
        if protocol_type in (None, CONSUMERS):
            return True
        why = f"group {self._settings.group_id} is one of {protocol_type}, not of consumers"
        self._halt(broker_error(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, why))
        return False

    # What goes wrong

    def _refused(self, code: int, what: str, now_ms: int) -> None:
        error = broker_error(code, f"{what} in group {self._settings.group_id}")
        if error.code in OUTLIVED:
            self.reset(f"{what} failed", keep_member_id=error.code is ErrorCode.ILLEGAL_GENERATION)
        elif error.code in NO_COORDINATOR:
            self._coordinator.forget(str(error), now_ms)
        self._failed(error, now_ms)

    def _failed(self, error: Answer, now_ms: int) -> None:
        assert isinstance(error, ClientError)
        code = error.code if isinstance(error, BrokerError) else None
        self._statistics.rebalance_failed(error, now_ms)
        self.rejoin_reason = f"rebalance failed due to {code.name if code else error}"
        if isinstance(self.stage, Out):
            return  # the program has something to give up first
        if code in _JOIN_AT_ONCE:
            self.stage = ToJoin(now_ms)
        elif error.retriable:
            self.stage = ToJoin(now_ms + self._settings.retry_backoff_ms)
        else:
            self._halt(error)

    def _halt_for_assignor(self, cause: Exception) -> None:
        error = cause
        if not isinstance(error, ClientError):
            error = AssignorError(f"the assignor fails: {cause!r}")
            error.__cause__ = cause
        self._halt(error)

    def _halt(self, error: ClientError) -> None:
        self.rejoin_reason = f"rebalance failed due to {type(error).__name__}"
        self.stage = Halted(error)
