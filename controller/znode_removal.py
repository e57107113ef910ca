"""The znodes of a deleted topic: its partitions, assignment, configuration and deletion mark."""

from __future__ import annotations

from logquake.controller.guarded_zk import GuardedZk
from logquake.zk.operations import Failed, GetChildren, ZkError
from logquake.zk.procedure import ZkFailure, attempt
from logquake.zk.znodes.admin import delete_topic_path
from logquake.zk.znodes.configs import EntityConfig, topic_entity
from logquake.zk.znodes.topics import TopicAssignment


async def remove_topic_znodes(zk: GuardedZk, topic: str) -> None:
    """In Kafka's order: the mark goes last, so that an end in between is noticed and redone.

    Raises ControllerMoved, ZkFailure.
    """
    await remove_recursively(zk, TopicAssignment.path(topic))
    await zk.delete_each([EntityConfig.path(topic_entity(topic))])
    await zk.delete_each([delete_topic_path(topic)])


async def remove_recursively(zk: GuardedZk, path: str) -> None:
    """Children before their parent; a node that is gone already is no failure."""
    for child in await children_of(path):
        await remove_recursively(zk, f"{path}/{child}")
    await zk.delete_each([path])


async def children_of(path: str) -> tuple[str, ...]:
    """None where there is no node. Raises ZkFailure."""
    outcome = await attempt(GetChildren(path))
    if not isinstance(outcome, Failed):
        return outcome.names
    if outcome.error is ZkError.NO_NODE:
        return ()
    raise ZkFailure(outcome)
