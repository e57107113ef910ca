"""Consumer groups, their members, and their offsets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from logquake.client.admin import groups
from logquake.client.admin.asking.by_broker import ByBroker
from logquake.client.admin.asking.results import Outcome, Results, Spread
from logquake.client.admin.calls.calling import Calling
from logquake.client.admin.described_groups import ConsumerGroupDescription, DescribeConsumerGroups
from logquake.client.admin.group_offsets import (
    AlterConsumerGroupOffsets,
    Committed,
    DeleteConsumerGroupOffsets,
    ListConsumerGroupOffsets,
)
from logquake.client.admin.groups import (
    ConsumerGroupListing,
    DeleteConsumerGroups,
    MemberToRemove,
    RemoveMembers,
)
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.errors import ClientError, ClosedError
from logquake.client.pending import Promise
from logquake.wire.topic_partition import TopicPartition

_REMOVED = "member was removed by an admin"  # KafkaAdminClient.DEFAULT_LEAVE_GROUP_REASON
_MAX_REASON = 255  # characters, like JoinGroupRequest's limit


class GroupCalls(Calling):
    def list_consumer_groups(
        self,
        *,
        states: Collection[str] = (),
        types: Collection[str] = (),
        timeout_ms: int | None = None,
    ) -> Promise[ByBroker[ConsumerGroupListing]]:
        """By broker; only in these states ("Stable", "Empty") and of these types ("Classic")."""
        return self._one(
            "findAllBrokers",
            lambda results: groups.list_consumer_groups(states, types, results),
            timeout_ms,
        )

    def describe_consumer_groups(
        self,
        group_ids: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout_ms: int | None = None,
    ) -> dict[str, Promise[ConsumerGroupDescription]]:
        handler = DescribeConsumerGroups(
            include_authorized_operations=include_authorized_operations
        )
        return self._keyed(handler, group_ids, timeout_ms)

    def delete_consumer_groups(
        self, group_ids: Iterable[str], *, timeout_ms: int | None = None
    ) -> dict[str, Promise[None]]:
        """Including their offsets; groups must have no members."""
        return self._keyed(DeleteConsumerGroups(), group_ids, timeout_ms)

    def remove_members_from_consumer_group(
        self,
        group_id: str,
        members: Iterable[MemberToRemove] | None = None,
        *,
        reason: str = "",
        timeout_ms: int | None = None,
    ) -> dict[MemberToRemove, Promise[None]]:
        """Live members will rejoin. See also remove_all_members_from_consumer_group()."""
        asked = list(dict.fromkeys(members or ()))
        promises: dict[MemberToRemove, Promise[None]] = {each: self._promise() for each in asked}
        if asked:
            handler = RemoveMembers(asked, _reason(reason))
            self._about(handler, group_id, Spread(Results(promises)), timeout_ms)
        return promises

    def remove_all_members_from_consumer_group(
        self, group_id: str, *, reason: str = "", timeout_ms: int | None = None
    ) -> Promise[Mapping[MemberToRemove, ClientError | None]]:
        """All current members: an error, or None, each (in Kafka an option of the call above)."""
        promise: Promise[Mapping[MemberToRemove, ClientError | None]] = self._promise()
        deadline_ms = self._deadline_ms(timeout_ms)

        def remove(group: ConsumerGroupDescription) -> None:
            members = [
                MemberToRemove(each.group_instance_id)
                if each.group_instance_id is not None
                else MemberToRemove(member_id=each.member_id)
                for each in group.members
            ]
            if members:
                left_ms = deadline_ms - self._makings.clock.now_ms()
                self._about(RemoveMembers(members, _reason(reason)), group_id, promise, left_ms)
            else:
                promise.settle({})

        handler = DescribeConsumerGroups(include_authorized_operations=False)
        self._about(handler, group_id, _Then(remove, promise), timeout_ms)
        return promise

    # Offsets

    def list_consumer_group_offsets(
        self,
        groups: Mapping[str, Collection[TopicPartition] | None],
        *,
        require_stable: bool = False,
        timeout_ms: int | None = None,
    ) -> dict[str, Promise[Committed]]:
        """By group, for these partitions of each; None means all that it has committed.

        With ``require_stable`` it waits for open transactions that may change them.
        """
        handler = ListConsumerGroupOffsets(groups, require_stable=require_stable)
        return self._keyed(handler, groups, timeout_ms)

    def alter_consumer_group_offsets(
        self,
        group_id: str,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        *,
        timeout_ms: int | None = None,
    ) -> dict[TopicPartition, Promise[None]]:
        """The group must have no members."""
        promises: dict[TopicPartition, Promise[None]] = {
            place: self._promise() for place in offsets
        }
        handler = AlterConsumerGroupOffsets(offsets)
        self._about(handler, group_id, Spread(Results(promises)), timeout_ms)
        return promises

    def delete_consumer_group_offsets(
        self,
        group_id: str,
        partitions: Iterable[TopicPartition],
        *,
        timeout_ms: int | None = None,
    ) -> dict[TopicPartition, Promise[None]]:
        """For topics to which no member subscribes."""
        promises: dict[TopicPartition, Promise[None]] = {
            place: self._promise() for place in partitions
        }
        handler = DeleteConsumerGroupOffsets(list(promises))
        self._about(handler, group_id, Spread(Results(promises)), timeout_ms)
        return promises


def _reason(given: str) -> str:
    return given[:_MAX_REASON] or _REMOVED


@dataclass(slots=True)
class _Then:
    """Satisfies `Outcome`: calls ``go_on`` on success; an error goes to ``in_vain``."""

    go_on: Callable[[Any], None]
    in_vain: Outcome
    is_done: bool = False

    def settle(self, outcome: Any) -> None:
        if self.is_done:
            return
        self.is_done = True
        if isinstance(outcome, ClientError):
            self.in_vain.settle(outcome)
        else:
            try:
                self.go_on(outcome)
            except ClosedError as error:
                self.in_vain.settle(error)
