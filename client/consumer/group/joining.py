"""JoinGroup: a member's request, and the effect of the response (AbstractCoordinator's
sendJoinGroupRequest and JoinGroupResponseHandler).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial

from logquake.client.consumer.assignors.assignor import Assignor, Held
from logquake.client.consumer.assignors.subscriptions import Subscription, encode_subscription
from logquake.client.consumer.group import errands, requests
from logquake.client.consumer.group.assigning import Assigning
from logquake.client.consumer.group.coordinator import Coordinator
from logquake.client.consumer.group.errands import Beside
from logquake.client.consumer.group.generation import Generation, Joining, ToJoin, Wishing
from logquake.client.consumer.group.heartbeat import Heartbeat
from logquake.client.consumer.group.membership import Membership
from logquake.client.consumer.group.settings import GroupSettings
from logquake.client.consumer.group.statistics import GroupEventKind, GroupStatistics
from logquake.client.consumer.group.topic_watch import TopicWatch
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.errors import MalformedResponseError
from logquake.client.network.link import Answer
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_membership import JoinGroupResponse

_LOG = logging.getLogger(__name__)


class JoiningGroup:
    def __init__(
        self,
        settings: GroupSettings,
        coordinator: Coordinator,
        membership: Membership,
        subscriptions: Subscriptions,
        watch: TopicWatch,
        assignors: Sequence[Assignor],
        assigning: Assigning,
        heartbeat: Heartbeat,
        statistics: GroupStatistics,
        beside: Beside,
    ) -> None:
        self._settings = settings
        self._coordinator = coordinator
        self._membership = membership
        self._subscriptions = subscriptions
        self._watch = watch
        self._assignors = assignors
        self._assigning = assigning
        self._heartbeat = heartbeat
        self._statistics = statistics
        self._beside = beside

    def poll(self, now_ms: int) -> None:
        stage = self._membership.stage
        if isinstance(stage, ToJoin):
            self._wish(stage, now_ms)
        elif isinstance(stage, Wishing) and stage.errand.is_done:
            self._join(stage, now_ms)

    def next_due_ms(self, now_ms: int) -> int | None:
        stage = self._membership.stage
        if isinstance(stage, ToJoin) and stage.not_before_ms > now_ms:
            return stage.not_before_ms
        return now_ms if isinstance(stage, Wishing) and stage.errand.is_done else None

    def _wish(self, stage: ToJoin, now_ms: int) -> None:
        """Not if the program is stuck: it must poll first."""
        if stage.not_before_ms > now_ms or self._heartbeat.poll_ends_ms <= now_ms:
            return
        if self._coordinator.find():
            saying = partial(_said, self._assignors, self._membership.held)
            self._membership.stage = Wishing(errands.begin(saying, self._beside))

    def _join(self, stage: Wishing, now_ms: int) -> None:
        membership = self._membership
        if not self._coordinator.find():  # it was lost meanwhile
            membership.stage = ToJoin(now_ms)
            return
        try:
            wishes = self._wishes(stage.errand.outcome())
        except Exception as error:  # noqa: BLE001 - an assignor of the program's may raise any
            membership.halt_for_assignor(error)
            return
        joining = membership.stage = Joining()
        self._watch.joins()
        reason, done = membership.rejoin_reason or "", partial(self._on_joined, joining, now_ms)
        _LOG.info("joining group %s: %s", self._settings.group_id, reason or "for the first time")
        self._statistics.tell(GroupEventKind.JOINS, reason)
        self._coordinator.ask(
            requests.join(self._settings, membership.generation, wishes, reason, done)
        )

    def _wishes(self, said: Mapping[str, bytes | None]) -> dict[str, bytes]:
        wish = Subscription(
            tuple(self._subscriptions.topics),
            tuple(self._subscriptions.assigned),
            self._membership.generation.id,
            self._settings.rack or None,
        )
        return {
            name: encode_subscription(wish.with_user_data(user_data))
            for name, user_data in said.items()
        }

    def _on_joined(self, joining: Joining, sent_ms: int, answer: Answer, now_ms: int) -> None:
        membership = self._membership
        if membership.stage is not joining:
            return  # it has left, or lost its membership
        if not isinstance(answer, JoinGroupResponse):
            membership.failed(answer, now_ms)
        elif answer.error_code == ErrorCode.NONE:
            self._statistics.joins.add(now_ms - sent_ms, now_ms)
            self._take_generation(answer, now_ms)
        elif answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            membership.generation = Generation(member_id=answer.member_id)
            why = f"need to re-join with the given member-id: {answer.member_id}"
            membership.rejoin_reason = why
            membership.join_again(now_ms)
        else:
            membership.refused(answer.error_code, "joining", now_ms)

    def _take_generation(self, joined: JoinGroupResponse, now_ms: int) -> None:
        membership, name = self._membership, joined.protocol_name
        if not membership.is_of_consumers(joined.protocol_type):
            return
        if name not in {each.name for each in self._assignors}:
            why = f"the coordinator has chosen an assignor {name}"
            membership.halt(MalformedResponseError(why))
            return
        generation = Generation(joined.generation_id, joined.member_id, name)
        if not generation.is_known:
            membership.halt(MalformedResponseError("joined as nobody, or in no generation"))
            return
        membership.generation = generation
        _LOG.info(
            "%s is in generation %d of group %s, which goes by %s",
            joined.member_id,
            joined.generation_id,
            self._settings.group_id,
            name,
        )
        self._heartbeat.begin(now_ms)
        self._assigning.begin(joined, now_ms)


def _said(assignors: Sequence[Assignor], held: Held | None) -> dict[str, bytes | None]:
    return {each.name: each.user_data(held) for each in assignors}
