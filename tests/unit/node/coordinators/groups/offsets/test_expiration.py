"""KIP-211: how long offsets are kept."""

from __future__ import annotations

from logquake.node.coordinators.groups.offsets.committed import LoggedOffset, OffsetAndMetadata
from logquake.node.coordinators.groups.offsets.expiration import Retention, expired
from logquake.node.coordinators.groups.offsets.group_offsets import GroupOffsets, PendingCommit
from logquake.wire.sentinels import NO_PRODUCER_ID
from logquake.wire.topic_partition import TopicPartition

RETENTION_MS = 100
FROM_COMMITS = Retention(None, lambda _topic: False)


def committed(**commit_ms: int) -> GroupOffsets:
    """Of topics by name, at these times."""
    offsets = GroupOffsets()
    for at, (topic, time_ms) in enumerate(commit_ms.items()):
        value = OffsetAndMetadata(5, commit_ms=time_ms)
        offsets.put(TopicPartition(topic, 0), LoggedOffset(at, value), NO_PRODUCER_ID)
    return offsets


def gone(offsets: GroupOffsets, retention: Retention, now_ms: int) -> list[str]:
    return [partition.topic for partition in expired(offsets, retention, now_ms, RETENTION_MS)]


def test_a_simple_consumers_offsets_age_from_the_commit() -> None:
    offsets = committed(old=1_000, young=1_001)
    assert gone(offsets, FROM_COMMITS, 1_099) == []
    assert gone(offsets, FROM_COMMITS, 1_100) == ["old"]


def test_an_empty_groups_offsets_age_from_when_it_became_so() -> None:
    offsets = committed(old=1_000, young=1_001)
    since = Retention(2_000, lambda _topic: False)
    assert gone(offsets, since, 2_099) == []
    assert gone(offsets, since, 2_100) == ["old", "young"]


def test_topics_that_are_consumed_do_not_age() -> None:
    offsets = committed(mine=1_000, left=1_000)
    assert gone(offsets, Retention(None, lambda topic: topic == "mine"), 9_999) == ["left"]


def test_a_commit_on_its_way_keeps_the_offset() -> None:
    offsets = committed(orders=1_000)
    offsets.begin(PendingCommit({TopicPartition("orders", 0): OffsetAndMetadata(6)}))
    assert gone(offsets, FROM_COMMITS, 9_999) == []


def test_an_expiration_of_its_own_goes_before_all_rules() -> None:
    offsets = GroupOffsets()
    for at, (topic, expire_ms) in enumerate([("soon", 1_010), ("late", 9_000)]):
        value = OffsetAndMetadata(5, commit_ms=1_000, expire_ms=expire_ms)
        offsets.put(TopicPartition(topic, 0), LoggedOffset(at, value), NO_PRODUCER_ID)
    assert gone(offsets, Retention(1_000, lambda _topic: False), 1_010) == ["soon"]
    assert gone(offsets, Retention(1_000, lambda _topic: False), 8_999) == ["soon"]
