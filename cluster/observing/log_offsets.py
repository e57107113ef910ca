"""Which partitions a topic has, and where their logs begin and end, as an admin client is told."""

from __future__ import annotations

from collections.abc import Iterable

from logquake.client import Admin
from logquake.client.admin import OffsetSpec
from logquake.client.isolation import Isolation
from logquake.wire.topic_partition import TopicPartition


def partitions_of(admin: Admin, topic: str) -> list[TopicPartition]:
    """In order. Raises ClientError, for a topic that is not there too."""
    found = admin.describe_topics([topic])[topic].result()
    return [TopicPartition(topic, each.partition) for each in found.partitions]


def offsets_at(
    admin: Admin,
    places: Iterable[TopicPartition],
    when: int,
    isolation: Isolation = Isolation.READ_UNCOMMITTED,
) -> dict[TopicPartition, int]:
    """``when`` is an `OffsetSpec` or a Unix time in milliseconds: UNKNOWN_OFFSET where no record is
    as late. Raises ClientError.
    """
    asked = admin.list_offsets(dict.fromkeys(places, when), isolation_level=isolation)
    return {place: told.result().offset for place, told in sorted(asked.items())}


def latest_offsets(
    admin: Admin, topic: str, isolation: Isolation = Isolation.READ_UNCOMMITTED
) -> dict[int, int]:
    """By partition the high watermark, or with READ_COMMITTED the last stable offset."""
    return _by_partition(admin, topic, OffsetSpec.LATEST, isolation)


def earliest_offsets(admin: Admin, topic: str) -> dict[int, int]:
    """By partition the log start."""
    return _by_partition(admin, topic, OffsetSpec.EARLIEST, Isolation.READ_UNCOMMITTED)


def _by_partition(admin: Admin, topic: str, when: int, isolation: Isolation) -> dict[int, int]:
    found = offsets_at(admin, partitions_of(admin, topic), when, isolation)
    return {place.partition: offset for place, offset in found.items()}
