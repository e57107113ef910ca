"""Reads that keep their watch: what the controller must hear of when it changes.

A watch fires once, so every read sets it again. A node that vanished between two reads is left
out: its parent's watch tells of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from logquake.controller.context.live_broker import LiveBroker
from logquake.controller.zookeeper.set_aside import SetAside
from logquake.zk.operations import Data, Failed, GetChildren, GetData, ZkError
from logquake.zk.procedure import ZkFailure, attempt_all, perform
from logquake.zk.znodes.admin import DELETE_TOPICS_PATH
from logquake.zk.znodes.brokers import IDS_PATH, BrokerRegistration, broker_id_of
from logquake.zk.znodes.json_text import MalformedZnode
from logquake.zk.znodes.topics import TOPICS_PATH, TopicAssignment


async def read_brokers(
    known: Mapping[int, LiveBroker], set_aside: SetAside
) -> dict[int, LiveBroker]:
    """Every registered broker by id. Raises ZkFailure, as everything here.

    One whose registration makes no sense is as it is ``known`` from before, if it is the same.
    """
    children = await perform(GetChildren(IDS_PATH, watch=True))
    broker_ids = sorted(_broker_ids(children.names, set_aside))
    reads = await read_existing([BrokerRegistration.path(each) for each in broker_ids])
    brokers = {}
    for broker_id, read in zip(broker_ids, reads, strict=True):
        if read is not None:
            broker = _live_broker(broker_id, read, set_aside)
            before = known.get(broker_id)
            if broker is None and before is not None and before.epoch == read.stat.czxid:
                broker = before
            if broker is not None:
                brokers[broker_id] = broker
    return brokers


def _broker_ids(names: Iterable[str], set_aside: SetAside) -> Iterator[int]:
    for name in names:
        try:
            yield broker_id_of(name)
        except MalformedZnode as malformed:
            set_aside.put(f"{IDS_PATH}/{name}", f"broker-{name}", malformed)


async def read_broker(broker_id: int, set_aside: SetAside) -> LiveBroker | None:
    """None if it is not registered, or its registration makes no sense."""
    (read,) = await read_existing([BrokerRegistration.path(broker_id)])
    return None if read is None else _live_broker(broker_id, read, set_aside)


async def read_topic_names() -> set[str]:
    return set((await perform(GetChildren(TOPICS_PATH, watch=True))).names)


async def read_topics_to_delete() -> set[str]:
    return set((await perform(GetChildren(DELETE_TOPICS_PATH, watch=True))).names)


async def read_assignments(
    topics: Iterable[str], set_aside: SetAside
) -> dict[str, tuple[TopicAssignment, int]]:
    """By topic its assignment and the znode's version; without those that make no sense."""
    names = sorted(topics)
    paths = [TopicAssignment.path(topic) for topic in names]
    assignments = {}
    for topic, path, read in zip(names, paths, await read_existing(paths), strict=True):
        if read is None:
            set_aside.forget(path)
            continue
        decoded = set_aside.take(path, topic, partial(TopicAssignment.decode, read.data))
        if decoded is not None:
            assignments[topic] = (decoded, read.stat.version)
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


def _live_broker(broker_id: int, read: Data, set_aside: SetAside) -> LiveBroker | None:
    path = BrokerRegistration.path(broker_id)
    decode = partial(BrokerRegistration.decode, broker_id, read.data)
    registration = set_aside.take(path, f"broker-{broker_id}", decode)
    if registration is None:
        return None
    return LiveBroker(registration, read.stat.czxid, has_listened=read.stat.version > 0)
