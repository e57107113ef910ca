"""What every broker tells of topics, each asked once for all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from logquake.client.network.effects import Node
from logquake.client.settings import Address
from logquake.cluster.observing.broker_connections import BrokerConnections
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponsePartition,
)


def leaders_told(
    brokers: Iterable[Node], connections: BrokerConnections, topics: Collection[str]
) -> dict[int, dict[str, list[int]]]:
    """By broker and topic, the leaders of the partitions in order; none of an unknown
    topic. Raises ClientError.
    """
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=topic) for topic in sorted(topics)],
        allow_auto_topic_creation=False,
    )
    told = {}
    for broker in brokers:
        answer = connections.ask(Address(broker.host, broker.port), request, MetadataResponse)
        told[broker.id] = {topic.name or "": _leaders(topic.partitions) for topic in answer.topics}
    return told


def _leaders(partitions: Iterable[MetadataResponsePartition]) -> list[int]:
    by_index = sorted(partitions, key=lambda each: each.partition_index)
    return [each.leader_id for each in by_index]
