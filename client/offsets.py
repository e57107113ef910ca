"""Offsets of a topic's partitions: earliest, latest, first at or after a time (ListOffsets)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from logquake.client.consumer.settings import Isolation
from logquake.client.errors import check
from logquake.client.routing import Leader, Router
from logquake.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from logquake.wire.sentinels import CONSUMER_REPLICA_ID, LATEST_TIMESTAMP


class FoundOffset(NamedTuple):
    """`offset` is UNKNOWN_OFFSET when no record is as late as the time asked for."""

    offset: int
    timestamp_ms: int
    leader_epoch: int


def list_offsets(
    router: Router,
    topic: str,
    times_ms: Mapping[int, int],
    *,
    isolation: Isolation = Isolation.READ_UNCOMMITTED,
) -> dict[int, FoundOffset]:
    """For each partition the offset at its time, or at LATEST_TIMESTAMP or EARLIEST_TIMESTAMP.

    The latest offset is the high watermark, or with READ_COMMITTED the last stable offset.
    Raises ClientError.
    """
    return router.with_retries(lambda: _ask_leaders(router, topic, times_ms, isolation))


def latest_offsets(
    router: Router, topic: str, *, isolation: Isolation = Isolation.READ_UNCOMMITTED
) -> dict[int, int]:
    return _offsets_at(router, topic, LATEST_TIMESTAMP, isolation)


def _offsets_at(router: Router, topic: str, time_ms: int, isolation: Isolation) -> dict[int, int]:
    partitions = router.with_retries(lambda: router.partitions(topic))
    found = list_offsets(router, topic, dict.fromkeys(partitions, time_ms), isolation=isolation)
    return {partition: at.offset for partition, at in found.items()}


def _ask_leaders(
    router: Router, topic: str, times_ms: Mapping[int, int], isolation: Isolation
) -> dict[int, FoundOffset]:
    by_broker: dict[int, list[ListOffsetsPartition]] = defaultdict(list)
    for partition, time_ms in sorted(times_ms.items()):
        leader = router.leader(topic, partition)
        by_broker[leader.broker_id].append(_question(partition, time_ms, leader))
    found: dict[int, FoundOffset] = {}
    for broker_id, questions in sorted(by_broker.items()):
        for answer in _ask(router, broker_id, topic, questions, isolation):
            check(answer.error_code, f"offsets of {topic}-{answer.partition_index}")
            found[answer.partition_index] = FoundOffset(
                answer.offset, answer.timestamp, answer.leader_epoch
            )
    return dict(sorted(found.items()))


def _question(partition: int, time_ms: int, leader: Leader) -> ListOffsetsPartition:
    return ListOffsetsPartition(
        partition_index=partition, timestamp=time_ms, current_leader_epoch=leader.epoch
    )


def _ask(
    router: Router,
    broker_id: int,
    topic: str,
    questions: Sequence[ListOffsetsPartition],
    isolation: Isolation,
) -> list[ListOffsetsPartitionResponse]:
    request = ListOffsetsRequest(
        replica_id=CONSUMER_REPLICA_ID,
        isolation_level=isolation,
        topics=[ListOffsetsTopic(name=topic, partitions=list(questions))],
    )
    answer = router.broker(broker_id).request(request, ListOffsetsResponse)
    return [partition for found in answer.topics for partition in found.partitions]
