"""Which offsets of a group are too old (KIP-211; GroupMetadata.removeExpiredOffsets).

offsets.retention.minutes run from when the group lost its last member; of a simple consumer, and of
topics that a stable group consumes no more, from the commit. Commits with a retention of their own
(OffsetCommit 2 to 4) keep to that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from logquake.node.coordinators.groups.offsets.committed import OffsetAndMetadata
from logquake.node.coordinators.groups.offsets.group_offsets import GroupOffsets
from logquake.wire.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class Retention:
    """How long the offsets of a group are kept, as its members have it at a moment.

    ``since_ms`` is the Unix time from which all of them age, None: each from its commit.
    ``is_subscribed`` tells of which topics none expires.
    """

    since_ms: int | None
    is_subscribed: Callable[[str], bool]


def expired(
    offsets: GroupOffsets, retention: Retention, now_ms: int, retention_ms: int
) -> list[TopicPartition]:
    """Those that are to go; now_ms is the Unix time."""
    return [
        partition
        for partition in offsets
        if not retention.is_subscribed(partition.topic)
        and not offsets.is_pending(partition)
        and (value := offsets.get(partition)) is not None
        and _is_too_old(value, retention.since_ms, now_ms, retention_ms)
    ]


def _is_too_old(
    value: OffsetAndMetadata, since_ms: int | None, now_ms: int, retention_ms: int
) -> bool:
    if value.expire_ms is not None:
        return now_ms >= value.expire_ms
    since = value.commit_ms if since_ms is None else since_ms
    return now_ms - since >= retention_ms
