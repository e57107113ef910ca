"""Committed offsets of a group: read, and written by its members or, while it has none, by anybody.

A partition without a commit is left out of what is read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from logquake.client.coordinators import group_coordinator
from logquake.client.errors import check
from logquake.client.routing import Router
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from logquake.wire.sentinels import NO_GENERATION, UNKNOWN_MEMBER_ID, UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition

_LAST_VERSION_OF_ONE_GROUP = 7  # later ones ask about several at once (KIP-709)
# Kafka's clients try again until the topic appears; who names one wants to know that it is missing.
_NO_SUCH_TOPIC = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,)


@dataclass(frozen=True, slots=True)
class Committer:
    """A member in its generation, or nobody in particular."""

    group_id: str
    generation_id: int = NO_GENERATION
    member_id: str = UNKNOWN_MEMBER_ID


class Commit(NamedTuple):
    """``metadata`` is what the committer told along with it."""

    offset: int
    metadata: str = ""


def committed_offsets(
    router: Router, group_id: str, *, require_stable: bool = False
) -> dict[TopicPartition, int]:
    """All of the group, as `commits_of` has them, without what was told along with them."""
    commits = commits_of(router, group_id, require_stable=require_stable)
    return {place: commit.offset for place, commit in commits.items()}


def commits_of(
    router: Router, group_id: str, *, require_stable: bool = False
) -> dict[TopicPartition, Commit]:
    """All of the group, in order; with `require_stable` once no transaction can change them.

    Of a partition that has none, one that a transaction is about to commit is not waited for.
    Raises ClientError.
    """
    request = OffsetFetchRequest(group_id=group_id, topics=None, require_stable=require_stable)

    def attempt() -> dict[TopicPartition, Commit]:
        answer = group_coordinator(router, group_id).request(
            request, OffsetFetchResponse, at_most=_LAST_VERSION_OF_ONE_GROUP
        )
        check(answer.error_code, f"offsets of group {group_id}")
        found: dict[TopicPartition, Commit] = {}
        for topic in answer.topics:
            for each in topic.partitions:
                place = TopicPartition(topic.name, each.partition_index)
                check(each.error_code, f"offset of group {group_id} in {place}")
                if each.committed_offset != UNKNOWN_OFFSET:
                    found[place] = Commit(each.committed_offset, each.metadata or "")
        return dict(sorted(found.items()))

    return router.with_retries(attempt)


def commit_offsets(
    router: Router, committer: Committer, offsets: Mapping[TopicPartition, int]
) -> None:
    """Returns once they are replicated. Raises ClientError.

    BrokerError where the committer may not: UNKNOWN_MEMBER_ID for who is no member while the group
    has some, ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS.
    """
    by_topic: dict[str, list[OffsetCommitRequestPartition]] = defaultdict(list)
    for (topic, partition), offset in sorted(offsets.items()):
        by_topic[topic].append(
            OffsetCommitRequestPartition(
                partition_index=partition, committed_offset=offset, committed_metadata=""
            )
        )
    request = OffsetCommitRequest(
        group_id=committer.group_id,
        generation_id_or_member_epoch=committer.generation_id,
        member_id=committer.member_id,
        topics=[
            OffsetCommitRequestTopic(name=topic, partitions=partitions)
            for topic, partitions in by_topic.items()
        ],
    )

    def attempt() -> None:
        coordinator = group_coordinator(router, committer.group_id)
        for topic in coordinator.request(request, OffsetCommitResponse).topics:
            for each in topic.partitions:
                context = f"commit of group {committer.group_id} in {topic.name}"
                check(each.error_code, f"{context}-{each.partition_index}", final=_NO_SUCH_TOPIC)

    router.with_retries(attempt)
