"""How many partitions coordinators' topics have: read once, when the broker starts
(KafkaServer.startup, KafkaZkClient.getTopicPartitionCount).
"""

from __future__ import annotations

from logquake.node.metadata.coordinators import CoordinatorTopic, CoordinatorTopics
from logquake.zk.operations import Failed, GetData, ZkError
from logquake.zk.procedure import ZkFailure, attempt
from logquake.zk.znodes.json_text import MalformedZnode
from logquake.zk.znodes.topics import TopicAssignment


async def read_coordinator_topics(configured: CoordinatorTopics) -> CoordinatorTopics:
    """As ``configured`` where there is no such topic yet, or its znode makes no sense.

    Raises ZkFailure.
    """
    return CoordinatorTopics(await _read(configured.groups), await _read(configured.transactions))


async def _read(configured: CoordinatorTopic) -> CoordinatorTopic:
    found = await attempt(GetData(TopicAssignment.path(configured.name)))
    if isinstance(found, Failed):
        if found.error is not ZkError.NO_NODE:
            raise ZkFailure(found)
        return configured
    try:
        count = len(TopicAssignment.decode(found.data).partitions)
    except MalformedZnode:
        return configured
    return CoordinatorTopic(configured.name, count) if count else configured
