"""What a poll returns (Kafka's ConsumerRecord, ConsumerRecords)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.wire.topic_partition import TopicPartition


class ConsumerRecord(NamedTuple):
    """A record, and its place. ``leader_epoch`` is NO_LEADER_EPOCH in formats before 2.

    Key and value are what the deserializers returned; without a deserializer, bytes or None.
    """

    place: TopicPartition
    offset: int
    timestamp_ms: int
    is_append_time: bool
    key: Any
    value: Any
    headers: tuple[tuple[str, bytes | None], ...]
    leader_epoch: int

    @property
    def topic(self) -> str:
        return self.place.topic

    @property
    def partition(self) -> int:
        return self.place.partition


class ConsumerRecords:
    """Records in the order of each partition, one partition after the other.

    ``next_offsets`` has each partition's next offset, to be committed when all records have been
    processed (KIP-1094).
    """

    def __init__(
        self,
        of: Mapping[TopicPartition, Sequence[ConsumerRecord]],
        next_offsets: Mapping[TopicPartition, OffsetAndMetadata],
    ) -> None:
        self._of = of
        self.next_offsets = next_offsets

    def __iter__(self) -> Iterator[ConsumerRecord]:
        return chain.from_iterable(self._of.values())

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    def __repr__(self) -> str:
        counts = ", ".join(f"{place}: {len(records)}" for place, records in self._of.items())
        return f"<ConsumerRecords {counts or 'none'}>"

    @property
    def partitions(self) -> list[TopicPartition]:
        """The partitions that have records."""
        return list(self._of)

    def records(self, of: TopicPartition | str) -> list[ConsumerRecord]:
        """The records of a partition, or of all partitions of a topic."""
        if isinstance(of, TopicPartition):
            return list(self._of.get(of, ()))
        return [
            record for place, records in self._of.items() if place.topic == of for record in records
        ]


NOTHING = ConsumerRecords({}, {})
