"""How far a group is: of each partition the committed offset, the log's end, who reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from logquake.client import Admin
from logquake.client.admin import OffsetSpec
from logquake.client.errors import BrokerError
from logquake.cluster.observing.groups import Group, Member
from logquake.cluster.observing.log_offsets import offsets_at
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class PartitionProgress:
    place: TopicPartition
    committed: int | None
    log_end: int | None  # None while the partition has no leader, or after its topic is gone
    reader: Member | None

    @property
    def lag(self) -> int | None:
        """Records not consumed yet, as Kafka counts them: None where either offset is not known."""
        if self.committed is None or self.log_end is None:
            return None
        return self.log_end - self.committed


def committed_offsets(admin: Admin, group_id: str) -> dict[TopicPartition, int]:
    """All that the group has, in order. Raises ClientError."""
    found = admin.list_consumer_group_offsets({group_id: None})[group_id].result()
    return {place: each.offset for place, each in sorted(found.items()) if each is not None}


def progress_of(admin: Admin, group: Group) -> list[PartitionProgress]:
    """Of what its members are assigned and of what was committed, in order. Raises ClientError."""
    readers = {place: member for member in group.members for place in member.assigned}
    committed = committed_offsets(admin, group.group_id)
    places = {*readers, *committed}
    led = places.intersection(_led(admin, {place.topic for place in places}))
    ends = offsets_at(admin, led, OffsetSpec.LATEST)
    return [
        PartitionProgress(place, committed.get(place), ends.get(place), readers.get(place))
        for place in sorted(places)
    ]


def _led(admin: Admin, topics: Iterable[str]) -> Iterator[TopicPartition]:
    """Those that have a leader now: the others are not waited for."""
    for topic, described in admin.describe_topics(topics).items():
        try:
            partitions = described.result().partitions
        except BrokerError as error:
            if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise
            continue
        yield from (TopicPartition(topic, one.partition) for one in partitions if one.leader)
