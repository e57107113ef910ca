"""One Fetch of one broker, for several partitions that it leads; without a fetch session."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from logquake.client.cursor import PartitionCursor, ReadOptions
from logquake.client.errors import MalformedResponseError, check
from logquake.client.routing import Router
from logquake.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from logquake.wire.topic_partition import TopicPartition

_LAST_VERSION_BY_NAME = 12  # later ones name topics by their id


def fetch(
    router: Router,
    broker_id: int,
    cursors: Sequence[PartitionCursor],
    options: ReadOptions,
    max_wait_ms: int,
) -> dict[TopicPartition, PartitionData]:
    """What it says of each, errors included; a broker may leave some out. Raises ClientError."""
    by_topic: dict[str, list[FetchPartition]] = defaultdict(list)
    for cursor in cursors:
        topic, partition = cursor.place
        by_topic[topic].append(cursor.question(router.leader(topic, partition).epoch))
    request = FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=1,
        max_bytes=options.fetch_max_bytes,
        isolation_level=options.isolation,
        topics=[FetchTopic(topic=name, partitions=asked) for name, asked in by_topic.items()],
    )
    answer = router.broker(broker_id).request(request, FetchResponse, at_most=_LAST_VERSION_BY_NAME)
    check(answer.error_code, f"fetch from broker {broker_id}")
    return _found(answer, {cursor.place for cursor in cursors})


def _found(
    answer: FetchResponse, asked: set[TopicPartition]
) -> dict[TopicPartition, PartitionData]:
    found = {
        TopicPartition(topic.topic, partition.partition_index): partition
        for topic in answer.responses
        for partition in topic.partitions
    }
    if not found.keys() <= asked:
        strangers = ", ".join(sorted(map(str, found.keys() - asked)))
        raise MalformedResponseError(f"a fetch was answered with {strangers}, not asked about")
    return found
