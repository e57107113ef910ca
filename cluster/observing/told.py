"""What every broker tells of a topic, each asked by itself."""

from __future__ import annotations

from logquake.client.routing import Router
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)


def leaders_told(router: Router, topic: str) -> dict[int, list[int]]:
    """By broker that serves, the leaders of the partitions in order; none of an unknown topic.

    Raises ClientError.
    """
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False
    )
    told = {}
    for broker in router.metadata([]).brokers:
        (found,) = router.broker(broker.node_id).request(request, MetadataResponse).topics
        partitions = sorted(found.partitions, key=lambda each: each.partition_index)
        told[broker.node_id] = [each.leader_id for each in partitions]
    return told
