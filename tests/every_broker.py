"""What every broker of a cluster tells, each asked by itself."""

from __future__ import annotations

from logquake.client.errors import ClientError
from logquake.client.routing import Router
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from tests.waiting import wait_for


def wait_until_all_tell(router: Router, topic: str, partitions: int) -> None:
    """Until all that run know the topic with as many partitions, each with a leader."""
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False
    )

    def leaders() -> dict[int, list[int]]:
        told = {}
        for broker in router.metadata([]).brokers:
            answer = router.broker(broker.node_id).request(request, MetadataResponse)
            told[broker.node_id] = [each.leader_id for each in answer.topics[0].partitions]
        return told

    def all_led(told: dict[int, list[int]]) -> bool:
        return all(len(each) == partitions and min(each) >= 0 for each in told.values())

    wait_for(f"leaders of {topic} told by all", leaders, all_led, unready=(ClientError,))
