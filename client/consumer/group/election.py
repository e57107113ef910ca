"""A leader's time between JoinGroup and SyncGroup: it learns of the topics, then assigns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from logquake.client.consumer.assignors.assignor import (
    Assignment,
    Assignor,
    RebalanceProtocol,
    Subscriptions,
)
from logquake.client.consumer.group import leading
from logquake.client.consumer.group.generation import Electing
from logquake.client.consumer.group.group_cluster import GroupCluster
from logquake.client.consumer.group.topic_watch import TopicWatch, partitions_of
from logquake.client.consumer.subscription import Subscriptions as Wished
from logquake.wire.messages.group_membership import JoinGroupResponse

_NONE_MISSING = -1  # of updates


class Election:
    def __init__(
        self,
        wished: Wished,
        cluster: GroupCluster,
        watch: TopicWatch,
        assignors: Sequence[Assignor],
    ) -> None:
        self._wished = wished
        self._cluster = cluster
        self._watch = watch
        self._assignors = {assignor.name: assignor for assignor in assignors}
        self.protocol = leading.protocol_of(assignors)

    def begin(self, joined: JoinGroupResponse, now_ms: int) -> Electing:
        """Raises MalformedResponseError for a subscription that is none."""
        topics = leading.topics_of(leading.members_of(joined))
        is_fresh = not self._cluster.is_update_wanted and self._cluster.update_delay_ms(now_ms) > 0
        updates = self._updates_needed(topics)
        return Electing(joined, updates if updates >= 0 or is_fresh else self._cluster.updates)

    def go_on(self, stage: Electing, name: str | None) -> Electing | Assignment:
        """What it waits for still, or what everybody gets.

        Raises AssignorError, and what an assignor raises.
        """
        if self._cluster.updates == stage.updates:
            return stage
        if stage.joined.skip_assignment:  # of a static leader that came back (KIP-814)
            self._watch.leads()
            return {}
        given = stage.given
        if given is None:
            assignor = self._assignors[name or ""]
            members = leading.members_of(stage.joined)
            given = self._assign(assignor, members)
            others = leading.topics_assigned(assignor, given) - leading.topics_of(members)
            if others:
                updates = self._updates_needed(leading.topics_of(members) | others)
                return Electing(stage.joined, updates, given)
        self._watch.leads()
        return given

    def _updates_needed(self, topics: Iterable[str]) -> int:
        """It watches the topics of all members from now on."""
        if not self._wished.group_wants(topics):
            return _NONE_MISSING
        self._cluster.request_update_for_new_topics()
        return self._cluster.updates

    def _assign(self, assignor: Assignor, members: Subscriptions) -> Assignment:
        given = assignor.assign(partitions_of(self._cluster.snapshot), members)
        if self.protocol is RebalanceProtocol.COOPERATIVE:
            leading.check_cooperation(assignor, members, given)
        return given
