"""A group in ZooKeeper: /consumers/GROUP/ids, owners, offsets (ZKGroupDirs, ZKGroupTopicDirs)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from logquake.client.classic.consuming.assignment import Decision, GroupView, ThreadId
from logquake.client.classic.consuming.registration import (
    TopicCount,
    Wildcard,
    decode_registration,
    streams_of,
)
from logquake.client.classic.coordination import nodes
from logquake.client.classic.coordination.brokers import children
from logquake.client.classic.errors import NotRegisteredError
from logquake.wire.sentinels import UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.operations import Exists
from logquake.zk.procedure import perform
from logquake.zk.znodes.brokers import IDS_PATH
from logquake.zk.znodes.consumers import ConsumerOffset
from logquake.zk.znodes.topics import TOPICS_PATH, TopicAssignment


def ids_path(group: str) -> str:
    return f"/consumers/{group}/ids"


def owner_path(group: str, place: TopicPartition) -> str:
    return f"/consumers/{group}/owners/{place.topic}/{place.partition}"


@dataclass(frozen=True, slots=True)
class Seen:
    """``has_brokers`` is false while there is no broker to fetch from."""

    view: GroupView
    has_brokers: bool


async def look(group: str, consumer: str, *, exclude_internal: bool) -> Seen:
    """The consumer's view, with watches on all of it: later changes trigger them.

    Raises NotRegisteredError, ZkFailure, MalformedZnode.
    """
    wanted = await _wanted_in(group)
    if consumer not in wanted:
        raise NotRegisteredError(f"{consumer} is not registered in {group}")
    topics: tuple[str, ...] = ()
    if any(isinstance(each, Wildcard) for each in wanted.values()):
        topics = await children(TOPICS_PATH, watch=True)
    streams = {
        each: streams_of(of_each, topics, exclude_internal=exclude_internal)
        for each, of_each in wanted.items()
    }
    partitions = {topic: await _partitions_of(topic) for topic in sorted(streams[consumer])}
    brokers = await children(IDS_PATH, watch=False) or await children(IDS_PATH, watch=True)
    return Seen(GroupView(consumer, _threads_by_topic(streams), partitions), bool(brokers))


async def _wanted_in(group: str) -> dict[str, TopicCount]:
    """A consumer that leaves meanwhile is left out: a watch reports that, too."""
    wanted: dict[str, TopicCount] = {}
    for name in await children(ids_path(group), watch=True):
        there = await nodes.read(f"{ids_path(group)}/{name}")
        if there is not None:
            wanted[name] = decode_registration(there.data)
    return wanted


def _threads_by_topic(streams: Mapping[str, Mapping[str, int]]) -> dict[str, list[ThreadId]]:
    by_topic: dict[str, list[ThreadId]] = {}
    for consumer, of_consumer in streams.items():
        for topic, count in of_consumer.items():
            by_topic.setdefault(topic, []).extend(ThreadId(consumer, i) for i in range(count))
    return by_topic


async def _partitions_of(topic: str) -> list[int]:
    """None for a missing topic; a watch reports its creation."""
    path = TopicAssignment.path(topic)
    there = await nodes.read(path, watch=True)
    if there is None and await perform(Exists(path, watch=True)) is not None:
        there = await nodes.read(path, watch=True)
    return [] if there is None else sorted(TopicAssignment.decode(there.data).partitions)


async def claim(group: str, decision: Decision, session_id: int) -> bool:
    """Own all or nothing: False if another consumer owns some. Raises ZkFailure."""
    claimed: list[TopicPartition] = []
    for place, thread in sorted(decision.items()):
        if not await nodes.claim(owner_path(group, place), str(thread).encode(), session_id):
            await release(group, claimed, session_id)
            return False
        claimed.append(place)
    return True


async def release(group: str, places: Iterable[TopicPartition], session_id: int) -> None:
    """Give up those that the session owns. Raises ZkFailure."""
    for place in places:
        await nodes.give_up(owner_path(group, place), session_id)


async def put_offsets(group: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Raises ZkFailure."""
    for place, offset in sorted(offsets.items()):
        committed = ConsumerOffset(offset)
        await nodes.put(committed.path(group, place), committed.encode())


async def offsets_of(group: str, places: Collection[TopicPartition]) -> dict[TopicPartition, int]:
    """UNKNOWN_OFFSET if there is none. Raises ZkFailure, MalformedZnode."""
    found = {}
    for place in places:
        there = await nodes.read(ConsumerOffset.path(group, place))
        found[place] = UNKNOWN_OFFSET if there is None else ConsumerOffset.decode(there.data).offset
    return found
