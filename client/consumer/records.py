"""What a poll returns (Kafka's ConsumerRecord, ConsumerRecords)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.wire.topic_partition import TopicPartition


class ConsumerRecord(NamedTuple):
    """A record, and where it was. ``leader_epoch`` is NO_LEADER_EPOCH in formats before 2.

    Key and value are what the deserializers made of them, bytes or None without one.
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
    """In the order of each partition, one partition after the other.

    ``next_offsets`` is where each goes on: what to commit once all is done (KIP-1094).
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
        """Of which there are records."""
        return list(self._of)

    def records(self, of: TopicPartition | str) -> list[ConsumerRecord]:
        """Of a partition, or of all of a topic's."""
        if isinstance(of, TopicPartition):
            return list(self._of.get(of, ()))
        return [
            record for place, records in self._of.items() if place.topic == of for record in records
        ]


NOTHING = ConsumerRecords({}, {})
