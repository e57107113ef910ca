"""The leader between JoinGroup and SyncGroup: it looks the topics up, then assigns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from logquake.client.consumer.assignors.assignor import Assignor, RebalanceProtocol
from logquake.client.consumer.group import leading
from logquake.client.consumer.group.generation import Electing, EncodedAssignment
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
        self._assignors = leading.by_name(assignors)
        self.protocol = leading.protocol_of(assignors)

    def begin(self, joined: JoinGroupResponse, now_ms: int) -> Electing:
        """Raises MalformedResponseError for an invalid subscription."""
        topics = leading.topics_of(leading.members_of(joined))
        is_fresh = not self._cluster.is_update_wanted and self._cluster.update_delay_ms(now_ms) > 0
        updates = self._updates_needed(topics)
        return Electing(joined, updates if updates >= 0 or is_fresh else self._cluster.updates)

    def knows_enough(self, stage: Electing) -> bool:
        """Whether the metadata of the topics has arrived."""
        return self._cluster.updates != stage.updates

    def given(self, stage: Electing) -> EncodedAssignment | None:
        """Everybody's assignment, or None if `assigning` has to compute it first."""
        if stage.joined.skip_assignment:  # for a static leader that came back (KIP-814)
            self._watch.leads()
            return {}
        if stage.given is not None:
            self._watch.thought_of_more(leading.topics_of(leading.members_of(stage.joined)))
        return stage.given

    def assigning(
        self, joined: JoinGroupResponse, name: str | None
    ) -> Callable[[], tuple[EncodedAssignment, frozenset[str]]]:
        """A function to call without holding the core, since an assignor may be the program's own.
        It returns everybody's assignment, and topics in it that no member had named. It raises
        AssignorError, what the assignor raises, and TypeError or ValueError for an invalid
        partition. Metadata that arrives meanwhile counts as a change.
        """
        self._watch.leads()
        assignor = self._assignors[name or ""]
        partitions, members = partitions_of(self._cluster.snapshot), leading.members_of(joined)
        is_cooperative = self.protocol is RebalanceProtocol.COOPERATIVE

        def assign() -> tuple[EncodedAssignment, frozenset[str]]:
            given = assignor.assign(partitions, members)
            encoded = leading.encoded(given)
            if is_cooperative:
                leading.check_cooperation(assignor, members, given)
            others = leading.topics_assigned(assignor, given) - leading.topics_of(members)
            return encoded, others

        return assign

    def thought_of(
        self, joined: JoinGroupResponse, given: EncodedAssignment, others: frozenset[str]
    ) -> Electing:
        """Wait until the metadata of those other topics has arrived, too."""
        if not others:
            return Electing(joined, _NONE_MISSING, given)
        topics = leading.topics_of(leading.members_of(joined)) | others
        return Electing(joined, self._updates_needed(topics), given)

    def _updates_needed(self, topics: Iterable[str]) -> int:
        """Watch the topics of all members from now on."""
        if not self._wished.group_wants(topics):
            return _NONE_MISSING
        self._cluster.request_update_for_new_topics()
        return self._cluster.updates
