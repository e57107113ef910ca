"""How far a group is: of each partition the committed offset, the log's end, who reads it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from logquake.client.commits import committed_offsets
from logquake.client.groups import GroupDescription, GroupMember
from logquake.client.offsets import list_offsets
from logquake.client.routing import Router
from logquake.wire.sentinels import LATEST_TIMESTAMP, NO_LEADER
from logquake.wire.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class PartitionProgress:
    place: TopicPartition
    committed: int | None
    log_end: int | None  # None while the partition has no leader, or after its topic is gone
    reader: GroupMember | None

    @property
    def lag(self) -> int | None:
        """Records not consumed yet, as Kafka counts them: None where either offset is not known."""
        if self.committed is None or self.log_end is None:
            return None
        return self.log_end - self.committed


def progress_of(router: Router, group: GroupDescription) -> list[PartitionProgress]:
    """Of what its members are assigned and of what was committed, in order. Raises ClientError."""
    readers = {place: member for member in group.members for place in member.assigned}
    committed = committed_offsets(router, group.group_id)
    places = sorted({*readers, *committed})
    ends = _log_ends(router, places)
    return [
        PartitionProgress(place, committed.get(place), ends.get(place), readers.get(place))
        for place in places
    ]


def _log_ends(router: Router, places: Collection[TopicPartition]) -> dict[TopicPartition, int]:
    led = set(_led(router, sorted({place.topic for place in places})))
    ends: dict[TopicPartition, int] = {}
    for topic in sorted({place.topic for place in places}):
        wanted = {
            at: LATEST_TIMESTAMP for name, at in places if name == topic and (name, at) in led
        }
        for partition, found in list_offsets(router, topic, wanted).items():
            ends[TopicPartition(topic, partition)] = found.offset
    return ends


def _led(router: Router, topics: list[str]) -> Iterator[TopicPartition]:
    """Those that have a leader now: the others are not waited for."""
    if not topics:
        return
    for topic in router.with_retries(lambda: router.metadata(topics)).topics:
        for partition in topic.partitions:
            if partition.leader_id != NO_LEADER:
                yield TopicPartition(topic.name or "", partition.partition_index)
