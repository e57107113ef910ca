"""A member's way through the generations of its group (AbstractCoordinator).

Its stage, and what leads back to the beginning. `joining.py` joins, `assigning.py` gets the
assignment, `keeping_alive.py` has the heartbeats. The program's half, what it gives up before a
member joins and gets afterwards, is `rebalancing.py`.
"""

from __future__ import annotations

import logging

from logquake.client.consumer.assignors.assignor import Held
from logquake.client.consumer.assignors.subscriptions import CONSUMERS
from logquake.client.consumer.group import requests
from logquake.client.consumer.group.coordinator import Coordinator
from logquake.client.consumer.group.generation import (
    BetweenGenerations,
    Generation,
    Halted,
    Joined,
    Out,
    Stable,
    Stage,
    ToJoin,
)
from logquake.client.consumer.group.heartbeat import Heartbeat
from logquake.client.consumer.group.settings import GroupSettings
from logquake.client.consumer.group.statistics import GroupEventKind, GroupStatistics
from logquake.client.consumer.group.topic_watch import TopicWatch
from logquake.client.errors import (
    AssignorError,
    BrokerError,
    ClientError,
    broker_error,
)
from logquake.client.network.link import Answer
from logquake.wire.errors import ErrorCode

_LOG = logging.getLogger(__name__)

OUTLIVED = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION)
_AT_ONCE = 5  # times in a row, enough for a group of many members to settle
_JOIN_AT_ONCE = (ErrorCode.MEMBER_ID_REQUIRED, ErrorCode.REBALANCE_IN_PROGRESS)


class Membership:
    """``rejoin_reason`` is why to rejoin, as sent to the coordinator (KIP-800), or None."""

    def __init__(
        self,
        settings: GroupSettings,
        coordinator: Coordinator,
        watch: TopicWatch,
        heartbeat: Heartbeat,
        statistics: GroupStatistics,
    ) -> None:
        self.stage: Stage = Out()
        self.generation = Generation()
        self.rejoin_reason: str | None = ""
        self._settings = settings
        self._coordinator = coordinator
        self._watch = watch
        self._heartbeat = heartbeat
        self._statistics = statistics
        self._in_vain = 0  # failures since the last rebalance
        self._not_before_ms = 0
        self.held: Held | None = None  # what a sticky assignor remembers
        self.failure: ClientError | None = None  # not raised to the program yet

    # What others check

    @property
    def is_stable(self) -> bool:
        """Whether a commit would count for this generation."""
        return isinstance(self.stage, Joined | Stable)

    @property
    def is_rebalancing(self) -> bool:
        return isinstance(self.stage, BetweenGenerations)

    @property
    def needs_preparation(self) -> bool:
        """Whether it has to join, once the program has given up its partitions."""
        return self.rejoin_reason is not None and isinstance(self.stage, Out | Stable)

    # What the program does

    def polled(self, now_ms: int) -> None:
        """Raises BrokerError if another client has taken over this static member."""
        self._heartbeat.polled(now_ms)
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure

    def join(self, now_ms: int) -> None:
        """The program has given up the partitions that it had to."""
        self._statistics.rebalance_began(now_ms)
        self.stage = ToJoin(max(now_ms, self._not_before_ms))

    def resume(self, halted: Halted) -> None:
        """The error was raised to the program, and the program polls again."""
        error = halted.error
        self.stage = ToJoin(0) if error is None else Halted(None)
        if error is not None:
            raise error

    def rebalanced(self, joined: Joined) -> None:
        """The group has rebalanced; the program learns of it in its next poll."""
        self.stage = joined
        self.rejoin_reason = None
        self._in_vain = 0

    def completed(self, joined: Joined) -> None:
        """The program was told its assignment, which may have been lost meanwhile."""
        if self.stage is joined:
            self.stage = Stable()

    def assigned(self, joined: Joined) -> None:
        """Keep what a sticky assignor remembers."""
        self.held = Held(joined.places, self.generation.id)

    def request_rejoin(self, reason: str) -> None:
        self.rejoin_reason = reason

    def notice(self) -> None:
        """Notice topics, or a subscription, that differ from what the group knows."""
        if isinstance(self.stage, Stable) and self.rejoin_reason is None:
            self.rejoin_reason = self._watch.reason_to_rejoin()

    def leave(self, reason: str) -> None:
        """A static member sends nothing: the group keeps its place until the session ends."""
        is_dynamic = self._settings.instance_id is None
        if is_dynamic and self.generation.member_id and not isinstance(self.stage, Out):
            self._coordinator.ask(requests.leave(self._settings, self.generation, reason))
        self.reset("consumer pro-actively leaving the group")

    def reset(self, reason: str, *, keep_member_id: bool = False) -> None:
        """Membership is over. If the id is kept, the coordinator need not wait for the old one."""
        _LOG.info("out of group %s: %s", self._settings.group_id, reason)
        self._statistics.tell(GroupEventKind.OUT, reason)
        member_id = self.generation.member_id if keep_member_id else Generation().member_id
        self.generation = Generation(member_id=member_id)
        self.stage = Out()
        self.rejoin_reason = reason

    def outlived(self, code: ErrorCode, reason: str) -> None:
        """The member's generation is over. The coordinator either still knows the member, which
        then keeps its id, or does not.
        """
        self.reset(reason, keep_member_id=code is ErrorCode.ILLEGAL_GENERATION)

    def is_of_consumers(self, protocol_type: str | None) -> bool:
        """Whether the group is one of consumers, if known (KIP-559). If not, the member halts."""
        if protocol_type in (None, CONSUMERS):
            return True
        why = f"group {self._settings.group_id} is one of {protocol_type}, not of consumers"
        self.halt(broker_error(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, why))
        return False

    # What goes wrong

    def refused(self, code: int, what: str, now_ms: int) -> None:
        error = broker_error(code, f"{what} in group {self._settings.group_id}{self._hint(code)}")
        if error.code in OUTLIVED:
            self.outlived(error.code, f"{what} failed")
        else:
            self._coordinator.heed(error.code, str(error), now_ms)
        self.failed(error, now_ms)

    def _hint(self, code: int) -> str:
        """Which setting to change; the brokers do not report their bounds."""
        if code != ErrorCode.INVALID_SESSION_TIMEOUT:
            return ""
        return (
            f": session.timeout.ms={self._settings.session_timeout_ms} is less than the brokers' "
            "group.min.session.timeout.ms, or more than their group.max.session.timeout.ms"
        )

    def failed(self, error: Answer, now_ms: int) -> None:
        assert isinstance(error, ClientError)
        code = error.code if isinstance(error, BrokerError) else None
        self._statistics.rebalance_failed(error, now_ms)
        self.rejoin_reason = f"rebalance failed due to {code.name if code else error}"
        if code in OUTLIVED:
            self._was_in_vain(now_ms)
        if isinstance(self.stage, Out):
            return  # the program has to give up partitions first
        if code in _JOIN_AT_ONCE:
            self.join_again(now_ms)
        elif error.retriable:
            self.stage = ToJoin(now_ms + self._settings.retry_backoff_ms)
        else:
            self.halt(error)

    def join_again(self, now_ms: int) -> None:
        """At once, as in Kafka; but with a back-off after repeated rejoins without success."""
        self._was_in_vain(now_ms)
        self.stage = ToJoin(self._not_before_ms)

    def _was_in_vain(self, now_ms: int) -> None:
        self._in_vain += 1
        wait_ms = self._settings.retry_backoff_ms if self._in_vain > _AT_ONCE else 0
        self._not_before_ms = now_ms + wait_ms

    def halt_for_assignor(self, cause: Exception) -> None:
        error = cause
        if not isinstance(error, ClientError):
            error = AssignorError(f"the assignor fails: {cause!r}")
            error.__cause__ = cause
        self.halt(error)

    def halt(self, error: ClientError) -> None:
        self.rejoin_reason = f"rebalance failed due to {type(error).__name__}"
        self.stage = Halted(error)
