"""What every broker tells of topics, each asked once for all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from logquake.client.routing import Router
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponsePartition,
)


def leaders_told(router: Router, topics: Collection[str]) -> dict[int, dict[str, list[int]]]:
    """By broker that serves and topic, the leaders of the partitions in order; none of an unknown
    topic. Raises ClientError.
    """
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=topic) for topic in sorted(topics)],
        allow_auto_topic_creation=False,
    )
    told = {}
    for broker in router.metadata([]).brokers:
        answer = router.broker(broker.node_id).request(request, MetadataResponse)
        told[broker.node_id] = {
            topic.name or "": _leaders(topic.partitions) for topic in answer.topics
        }
    return told


def _leaders(partitions: Iterable[MetadataResponsePartition]) -> list[int]:
    by_index = sorted(partitions, key=lambda each: each.partition_index)
    return [each.leader_id for each in by_index]
