"""Which topics let a replica from outside the ISR lead: their own setting, else the broker's."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from logquake.controller.zookeeper.set_aside import SetAside
from logquake.zk.operations import Failed, GetData, ZkError
from logquake.zk.procedure import ZkFailure, attempt_all
from logquake.zk.znodes.configs import EntityConfig, topic_entity

KEY = "unclean.leader.election.enable"


async def topics_allowing_unclean(
    topics: Sequence[str], set_aside: SetAside, *, default: bool
) -> set[str]:
    """A configuration that makes no sense allows nothing. Raises ZkFailure."""
    reads = [GetData(EntityConfig.path(topic_entity(topic))) for topic in topics]
    allowing = set()
    for topic, outcome in zip(topics, await attempt_all(reads), strict=True):
        if isinstance(outcome, Failed):
            if outcome.error is not ZkError.NO_NODE:
                raise ZkFailure(outcome)
            allowed = default
        else:
            path = EntityConfig.path(topic_entity(topic))
            entity = set_aside.take(path, topic, partial(EntityConfig.decode, outcome.data))
            allowed = entity is not None and _allowed(entity, default)
        if allowed:
            allowing.add(topic)
    return allowing


def _allowed(entity: EntityConfig, default: bool) -> bool:
    own = entity.config.get(KEY)
    return default if own is None else own.lower() == "true"
