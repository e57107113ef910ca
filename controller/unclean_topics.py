"""Which topics let a replica from outside the ISR lead: their own setting, else the broker's."""

from __future__ import annotations

from collections.abc import Sequence

from logquake.zk.operations import Failed, GetData, ZkError
from logquake.zk.procedure import ZkFailure, attempt_all
from logquake.zk.znodes.configs import EntityConfig, topic_entity

KEY = "unclean.leader.election.enable"


async def topics_allowing_unclean(topics: Sequence[str], *, default: bool) -> set[str]:
    """Raises ZkFailure."""
    reads = [GetData(EntityConfig.path(topic_entity(topic))) for topic in topics]
    allowing = set()
    for topic, outcome in zip(topics, await attempt_all(reads), strict=True):
        if isinstance(outcome, Failed):
            if outcome.error is not ZkError.NO_NODE:
                raise ZkFailure(outcome)
            allowed = default
        else:
            own = EntityConfig.decode(outcome.data).config.get(KEY)
            allowed = default if own is None else own.lower() == "true"
        if allowed:
            allowing.add(topic)
    return allowing
