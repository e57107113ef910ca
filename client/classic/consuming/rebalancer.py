"""A consumer's share of its group's partitions, recomputed after any change
(ZookeeperConsumerConnector.ZKRebalancerListener).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Event, RLock
from typing import Protocol

from logquake.client.classic.consuming import group as znodes
from logquake.client.classic.consuming.assignment import Decision, GroupView, ThreadId, assign
from logquake.client.classic.consuming.offsets import OffsetStore
from logquake.client.classic.consuming.statistics import ConsumerStatistics
from logquake.client.classic.consuming.stream import PartitionTopicInfo, StreamBuffer
from logquake.client.classic.coordination.client import ZkClient
from logquake.client.classic.errors import NotRegisteredError, RebalanceFailedError
from logquake.client.classic.settings.consumer import ConsumerConfig
from logquake.client.errors import ClientError
from logquake.wire.topic_partition import TopicPartition

_log = logging.getLogger(__name__)

BufferOf = Callable[[str, ThreadId], StreamBuffer]


class Fetching(Protocol):
    """Fetchers as seen by the rebalancer."""

    def start(self, infos: Iterable[PartitionTopicInfo]) -> None: ...

    def stop(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _Share:
    """The claimed partitions, and the ZooKeeper session, with which the claim ends."""

    session_id: int
    infos: Mapping[TopicPartition, PartitionTopicInfo]


_NOTHING = _Share(0, {})


class Rebalancer:
    """Threads may share it, and wait for one another. Until start() it owns nothing."""

    def __init__(
        self,
        consumer: str,
        config: ConsumerConfig,
        zk: ZkClient,
        offsets: OffsetStore,
        fetchers: Fetching,
        stopping: Event,
        statistics: ConsumerStatistics,
    ) -> None:
        self._consumer = consumer
        self._config = config
        self._zk = zk
        self._offsets = offsets
        self._fetchers = fetchers
        self._stopping = stopping
        self._statistics = statistics
        self._lock = RLock()
        self._buffers: tuple[StreamBuffer, ...] = ()
        self._buffer_of: BufferOf = _no_buffers
        self._owned = _NOTHING
        self._claimed: set[TopicPartition] = set()  # what we may own in ZooKeeper, even if unsure
        self._settled: GroupView | None = None  # the view from which our share was computed

    def start(self, buffers: Iterable[StreamBuffer], buffer_of: BufferOf) -> None:
        """Raises as rebalance()."""
        self._buffers = tuple(buffers)
        self._buffer_of = buffer_of
        self.rebalance()

    def consumed(self) -> dict[TopicPartition, int]:
        """The program's offsets in its partitions; negative if not known yet.

        Empty once a new session has begun: another owner may be further by then.
        """
        owned = self._owned
        if owned.session_id != self._zk.session_id:
            return {}
        return {place: info.consumed_offset for place, info in owned.infos.items()}

    def rebalance(self) -> None:
        """``syncedRebalance``. Raises RebalanceFailedError after rebalance.max.retries attempts,
        and NotRegisteredError at once: retries are pointless until the consumer is registered.
        """
        with self._lock:
            self._statistics.rebalanced()
            failure: Exception | None = None
            for attempt in range(self._config.rebalance_max_retries):
                if attempt:
                    self._stopping.wait(self._config.rebalance_backoff_ms / 1000)
                if self._stopping.is_set():
                    return
                try:
                    if self._attempt():
                        return
                    failure = None
                except (ClientError, ValueError) as error:
                    _log.info("%s: a rebalance failed: %s", self._consumer, error)
                    failure = error
                self._settled = None
                self._close_fetchers()
                if isinstance(failure, NotRegisteredError):
                    raise failure
            raise RebalanceFailedError(
                f"{self._consumer} can't rebalance after {self._config.rebalance_max_retries} "
                f"retries: {failure or 'others own what it is to own'}"
            ) from failure

    def forget(self) -> None:
        """``resetState``: the session is over, and with it all ownership."""
        with self._lock:
            self._owned = _NOTHING
            self._claimed.clear()
            self._settled = None

    def stop(self) -> None:
        """End the streams, and stop filling them; consumed() still has their offsets."""
        with self._lock:
            self._fetchers.stop()
            for each in self._buffers:
                each.end()

    def _attempt(self) -> bool:
        """Whether it owns its whole share. Does nothing if no change concerns this consumer, while
        Kafka's rebalances for any new topic.
        """
        group = self._config.group_id
        seen = self._zk.run(
            znodes.look(
                group, self._consumer, exclude_internal=self._config.exclude_internal_topics
            )
        )
        if not seen.has_brokers:
            _log.warning("%s: there are no brokers", self._consumer)
            return True
        if seen.view == self._settled:
            return True
        self._settled = None
        self._close_fetchers()
        self._release()
        self._owned = _NOTHING
        decision = assign(self._config.partition_assignment_strategy, seen.view)
        session_id = self._zk.session_id
        self._claimed = set(decision)
        if not self._zk.run(znodes.claim(group, decision, session_id)):
            return False
        self._own(decision, self._offsets_of(decision), session_id)
        self._settled = seen.view
        return True

    def _release(self) -> None:
        group = self._config.group_id
        self._zk.run(znodes.release(group, sorted(self._claimed), self._zk.session_id))
        self._claimed.clear()

    def _offsets_of(self, claimed: Decision) -> dict[TopicPartition, int]:
        """Read only after claiming: the previous owner commits until it gives them up, and its last
        messages would otherwise be read again. On failure, other consumers may claim them.
        """
        try:
            return self._offsets.fetch(claimed.keys())
        except ClientError:
            self._release()
            raise

    def _own(
        self, decision: Decision, offsets: Mapping[TopicPartition, int], session_id: int
    ) -> None:
        infos = {
            place: PartitionTopicInfo(place, offsets[place], self._buffer_of(place.topic, thread))
            for place, thread in sorted(decision.items())
        }
        self._owned = _Share(session_id, infos)
        _log.info("%s owns %s", self._consumer, ", ".join(map(str, infos)) or "nothing")
        self._fetchers.start(infos.values())

    def _close_fetchers(self) -> None:
        """Commit what was returned, before others may own the partitions; drop the rest, which the
        next owner fetches again.
        """
        self._fetchers.stop()
        for each in self._buffers:
            each.clear()
        if not self._config.auto_commit_enable:
            return
        try:
            self._offsets.commit(self.consumed())
        except ClientError as error:
            _log.warning("%s: offsets are not committed: %s", self._consumer, error)


def _no_buffers(topic: str, thread: ThreadId) -> StreamBuffer:
    raise KeyError((topic, thread))
