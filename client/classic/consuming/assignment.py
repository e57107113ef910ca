"""Which consumer of a group owns which partitions (kafka.consumer.PartitionAssignor).

Each consumer computes it by itself; all get the same result if they see the same group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

from logquake.client.classic.settings.consumer import Strategy
from logquake.wire.java_text import string_hash
from logquake.wire.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class ThreadId:
    """One stream of one consumer (ConsumerThreadId)."""

    consumer: str
    number: int

    def __str__(self) -> str:
        return f"{self.consumer}-{self.number}"


@dataclass(frozen=True, slots=True)
class GroupView:
    """One consumer's view of its group (AssignmentContext).

    ``streams`` are all consumers', by topic; ``partitions`` those of its own topics.
    """

    consumer: str
    streams: Mapping[str, Sequence[ThreadId]]
    partitions: Mapping[str, Sequence[int]]


Decision = dict[TopicPartition, ThreadId]
"""The partitions that one consumer is to own, and the stream for each."""


def assign(strategy: Strategy, view: GroupView) -> Decision:
    """Raises ValueError if the group must not use the strategy."""
    return _range(view) if strategy is Strategy.RANGE else _round_robin(view)


def _range(view: GroupView) -> Decision:
    """Per topic, adjacent partitions for each stream; the first streams may get one more."""
    decision: Decision = {}
    for topic, partitions in sorted(view.partitions.items()):
        threads = sorted(view.streams[topic], key=str)
        each, more = divmod(len(partitions), len(threads))
        for position, thread in enumerate(threads):
            begin = each * position + min(position, more)
            end = begin + each + (position < more)
            if thread.consumer == view.consumer:
                decision |= {
                    TopicPartition(topic, partition): thread for partition in partitions[begin:end]
                }
    return decision


def _round_robin(view: GroupView) -> Decision:
    """All partitions in the order of their hashes, dealt out in turn."""
    threads = _same_for_all(view)
    places = [
        TopicPartition(topic, partition)
        for topic, partitions in view.partitions.items()
        for partition in partitions
    ]
    dealt = zip(sorted(places, key=_hash_first), cycle(threads), strict=False)
    return {place: thread for place, thread in dealt if thread.consumer == view.consumer}


def _same_for_all(view: GroupView) -> list[ThreadId]:
    """Any stream may get any partition, so all must have the same topics."""
    of_topics = {frozenset(threads) for threads in view.streams.values()}
    if len(of_topics) > 1:
        raise ValueError(
            "partition.assignment.strategy=roundrobin needs all consumers of a group to have the "
            "same topics, and each as many streams for one topic as for another"
        )
    return sorted((thread for threads in of_topics for thread in threads), key=str)


def _hash_first(place: TopicPartition) -> tuple[int, TopicPartition]:
    return string_hash(f"[{place.topic},{place.partition}]"), place
