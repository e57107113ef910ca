"""Reads that keep their watch: what the controller must hear of when it changes.

A watch fires once, so every read sets it again. A node that vanished between two reads is left
out: its parent's watch tells of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from logquake.controller.context import LiveBroker
from logquake.zk.operations import Data, Failed, GetChildren, GetData, ZkError
from logquake.zk.procedure import ZkFailure, attempt_all, perform
from logquake.zk.znodes.admin import DELETE_TOPICS_PATH
from logquake.zk.znodes.brokers import IDS_PATH, BrokerRegistration
from logquake.zk.znodes.json_text import MalformedZnode
from logquake.zk.znodes.topics import TOPICS_PATH, TopicAssignment


async def read_brokers() -> dict[int, LiveBroker]:
    """Every registered broker by id. Raises ZkFailure, as everything here."""
    children = await perform(GetChildren(IDS_PATH, watch=True))
    broker_ids = sorted(int(name) for name in children.names)
    reads = await read_existing([BrokerRegistration.path(each) for each in broker_ids])
    return {
        broker_id: _live_broker(broker_id, read)
        for broker_id, read in zip(broker_ids, reads, strict=True)
        if read is not None
    }


async def read_broker(broker_id: int) -> LiveBroker | None:
    (read,) = await read_existing([BrokerRegistration.path(broker_id)])
    return None if read is None else _live_broker(broker_id, read)


async def read_topic_names() -> set[str]:
    return set((await perform(GetChildren(TOPICS_PATH, watch=True))).names)


async def read_topics_to_delete() -> set[str]:
    return set((await perform(GetChildren(DELETE_TOPICS_PATH, watch=True))).names)


async def read_assignments(
    topics: Iterable[str], on_malformed: Callable[[str, MalformedZnode], None]
) -> dict[str, tuple[TopicAssignment, int]]:
    """By topic its assignment and the znode's version; without those that cannot be read.

    One malformed topic must not keep all others from being created.
    """
    names = sorted(topics)
    reads = await read_existing([TopicAssignment.path(topic) for topic in names])
    assignments = {}
    for topic, read in zip(names, reads, strict=True):
        if read is not None:
            try:
                assignments[topic] = (TopicAssignment.decode(read.data), read.stat.version)
            except MalformedZnode as malformed:
                on_malformed(topic, malformed)
    return assignments


async def read_existing(paths: Sequence[str]) -> list[Data | None]:
    """Data of each node, None for those that are not there."""
    outcomes = await attempt_all([GetData(path, watch=True) for path in paths])
    return [_present(outcome) for outcome in outcomes]


def _present(outcome: Data | Failed) -> Data | None:
    if not isinstance(outcome, Failed):
        return outcome
    if outcome.error is ZkError.NO_NODE:
        return None
    raise ZkFailure(outcome)


def _live_broker(broker_id: int, read: Data) -> LiveBroker:
    registration = BrokerRegistration.decode(broker_id, read.data)
    return LiveBroker(registration, read.stat.czxid, has_listened=read.stat.version > 0)
