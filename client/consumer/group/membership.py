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
_AT_ONCE = 5  # times in a row, in which a group of many members has settled
_JOIN_AT_ONCE = (ErrorCode.MEMBER_ID_REQUIRED, ErrorCode.REBALANCE_IN_PROGRESS)


class Membership:
    """``rejoin_reason`` is why to join again, as the coordinator is told (KIP-800); None: not."""

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
        self._in_vain = 0  # since a rebalance has ended
        self._not_before_ms = 0
        self.held: Held | None = None  # as a sticky assignor remembers it
        self.failure: ClientError | None = None  # the program has not heard of it yet

    # What others go by

    @property
    def is_stable(self) -> bool:
        """A commit counts as this generation's."""
        return isinstance(self.stage, Joined | Stable)

    @property
    def is_rebalancing(self) -> bool:
        return isinstance(self.stage, BetweenGenerations)

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
        self.stage = ToJoin(max(now_ms, self._not_before_ms))

    def resume(self, halted: Halted) -> None:
        """The program has heard why, and polls again."""
        error = halted.error
        self.stage = ToJoin(0) if error is None else Halted(None)
        if error is not None:
            raise error

    def rebalanced(self, joined: Joined) -> None:
        """The group has; the program hears of it in its next poll."""
        self.stage = joined
        self.rejoin_reason = None
        self._in_vain = 0

    def completed(self, joined: Joined) -> None:
        """The program has heard what it was assigned; meanwhile all may have been lost."""
        if self.stage is joined:
            self.stage = Stable()

    def assigned(self, joined: Joined) -> None:
        """What a sticky assignor remembers."""
        self.held = Held(joined.places, self.generation.id)

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

    def outlived(self, code: ErrorCode, reason: str) -> None:
        """Refused as of a generation that is over: the member is known still, and goes by its id,
        or is not known any more.
        """
        self.reset(reason, keep_member_id=code is ErrorCode.ILLEGAL_GENERATION)

    def is_of_consumers(self, protocol_type: str | None) -> bool:
        """What brokers that tell it say of the group (KIP-559). One of others halts the member."""
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
        """What is to be set otherwise; bounds are the brokers' own, and nobody tells them."""
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
            return  # the program has something to give up first
        if code in _JOIN_AT_ONCE:
            self.join_again(now_ms)
        elif error.retriable:
            self.stage = ToJoin(now_ms + self._settings.retry_backoff_ms)
        else:
            self.halt(error)

    def join_again(self, now_ms: int) -> None:
        """At once, as Kafka's; who is told to again and again, of no rebalance that ends, waits."""
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
