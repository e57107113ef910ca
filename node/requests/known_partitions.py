"""Requests that name partitions for a coordinator: those that there are, and answers by topic."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, TypeVar

from logquake.node.metadata.cache import MetadataCache
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition


class _Partition(Protocol):
    partition_index: int


A = TypeVar("A")
P = TypeVar("P", bound=_Partition)
P_co = TypeVar("P_co", bound=_Partition, covariant=True)


class _Topic(Protocol[P_co]):
    name: str

    @property
    def partitions(self) -> Sequence[P_co]: ...


def sort_out(
    topics: Sequence[_Topic[P]], cache: MetadataCache, denied: Collection[str]
) -> tuple[dict[TopicPartition, P], dict[TopicPartition, ErrorCode]]:
    """The partitions that the cluster has, and the errors of the others. ``denied`` are topics.

    Of one that is named twice the last mention counts, as in Kafka.
    """
    known: dict[TopicPartition, P] = {}
    unknown: dict[TopicPartition, ErrorCode] = {}
    for topic in topics:
        for each in topic.partitions:
            partition = TopicPartition(topic.name, each.partition_index)
            if topic.name in denied:
                unknown[partition] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            elif cache.partition(*partition) is None:
                unknown[partition] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            else:
                known[partition] = each
    return known, unknown


def by_topic(answers: Mapping[TopicPartition, A]) -> list[tuple[str, list[tuple[int, A]]]]:
    """In the order in which they are first named."""
    topics: dict[str, list[tuple[int, A]]] = {}
    for (topic, index), answer in answers.items():
        topics.setdefault(topic, []).append((index, answer))
    return list(topics.items())
