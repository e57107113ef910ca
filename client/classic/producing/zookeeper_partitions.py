"""The partitions' leaders according to ZooKeeper: zk.connect instead of broker.list
(0.7's ZKBrokerPartitionInfo, over the znodes of later brokers).

Watches report brokers that come and go, added partitions and new leaders; the nodes are read when
the next message needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from threading import Event

from logquake.client.classic.coordination import nodes
from logquake.client.classic.coordination.brokers import live_brokers
from logquake.client.classic.coordination.client import OpenSession, ZkClient
from logquake.client.classic.settings.zookeeper import ZooKeeperKeys
from logquake.client.classic.topic_metadata import Broker, MetadataAsker, PartitionMetadata
from logquake.client.errors import NoLeaderError
from logquake.zk.operations import Exists
from logquake.zk.procedure import perform
from logquake.zk.znodes.topics import PartitionState, TopicAssignment


class ZooKeeperPartitions:
    """For one thread at a time. ``on_change`` is called whenever something has changed."""

    def __init__(
        self,
        config: ZooKeeperKeys,
        open_session: OpenSession,
        asker: MetadataAsker,
        on_change: Callable[[], None],
    ) -> None:
        """Raises ZooKeeperTimeoutError."""
        self._asker = asker
        self._on_change = on_change
        self._is_stale = Event()
        self._brokers: dict[int, Broker] = {}
        self._known: dict[str, tuple[PartitionMetadata, ...]] = {}
        self._zk = ZkClient(
            open_session,
            connection_timeout_ms=config.zookeeper_connection_timeout_ms,
            call_timeout_ms=config.zookeeper_session_timeout_ms
            + config.zookeeper_connection_timeout_ms,
            on_watch=lambda _event: self._is_stale.set(),
            on_new_session=self._is_stale.set,
        )

    def partitions_of(self, topic: str) -> Sequence[PartitionMetadata]:
        if self._is_stale.is_set():
            self._is_stale.clear()
            self._known.clear()
            self._on_change()
        if not self._known.get(topic):
            self._brokers = {each.id: each for each in self._zk.run(live_brokers(watch=True))}
            self._known[topic] = self._zk.run(_look(topic, self._brokers))
        if not self._known[topic]:
            self._ask_for(topic)
            raise NoLeaderError(f"{topic} is not in ZooKeeper yet")
        return self._known[topic]

    def refresh(self, topics: Collection[str]) -> None:
        """Read again, since a watch may not have reported a change yet."""
        for topic in topics:
            self._known.pop(topic, None)

    def interrupt(self) -> None:
        self._asker.interrupt()

    def close(self) -> None:
        self._zk.close()

    def _ask_for(self, topic: str) -> None:
        """A broker that creates topics automatically will then create it."""
        self._asker.ask([each.address for each in self._brokers.values()], [topic])


async def _look(topic: str, brokers: dict[int, Broker]) -> tuple[PartitionMetadata, ...]:
    """With watches on all of it; empty for a missing topic. A dead leader counts as none."""
    path = TopicAssignment.path(topic)
    there = await nodes.read(path, watch=True)
    if there is None:
        await perform(Exists(path, watch=True))
        return ()
    found = []
    for partition in sorted(TopicAssignment.decode(there.data).partitions):
        state_path = PartitionState.path(topic, partition)
        state = await nodes.read(state_path, watch=True)
        if state is None:
            await perform(Exists(state_path, watch=True))
        leader = None if state is None else PartitionState.decode(state.data).leader
        found.append(PartitionMetadata(partition, None if leader is None else brokers.get(leader)))
    return tuple(found)
