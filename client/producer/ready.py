"""Which brokers have batches to be sent, and when others will (RecordAccumulator.ready)."""

from __future__ import annotations

from dataclasses import dataclass, field

from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.leaders import Leaders
from logquake.client.producer.queues import Queues, TopicQueues
from logquake.client.producer.settings import BatchingSettings
from logquake.wire.topic_partition import TopicPartition


@dataclass(slots=True)
class Ready:
    """``leaderless`` topics have batches to send, but no leader for them."""

    nodes: dict[int, None] = field(default_factory=dict)
    leaderless: dict[str, None] = field(default_factory=dict)
    wait_ms: int | None = None  # until more may be ready; None if nothing is waiting

    def wait_at_most(self, wait_ms: int) -> None:
        self.wait_ms = wait_ms if self.wait_ms is None else min(self.wait_ms, wait_ms)


@dataclass(slots=True)
class _Latency:
    """``drained_ms``: when the broker last took a batch that was ready for it."""

    drained_ms: int
    ready_ms: int


class NodeLatencies:
    """How long brokers have taken nothing although batches were ready for them (KIP-794)."""

    def __init__(self, availability_timeout_ms: int) -> None:
        self._timeout_ms = availability_timeout_ms
        self._latencies: dict[int, _Latency] = {}

    def note(self, node_id: int, now_ms: int, *, can_drain: bool) -> None:
        if self._timeout_ms <= 0:
            return
        latency = self._latencies.setdefault(node_id, _Latency(now_ms, now_ms))
        latency.ready_ms = now_ms
        if can_drain:
            latency.drained_ms = now_ms

    @property
    def are_all_available(self) -> bool:
        """Always True without partitioner.availability.timeout.ms."""
        return all(map(self.is_available, self._latencies))

    def is_available(self, node_id: int) -> bool:
        latency = self._latencies.get(node_id)
        return latency is None or latency.ready_ms - latency.drained_ms <= self._timeout_ms


class ReadyCheck:
    def __init__(
        self, settings: BatchingSettings, queues: Queues, latencies: NodeLatencies
    ) -> None:
        self._settings = settings
        self._queues = queues
        self._latencies = latencies

    def check(self, leaders: Leaders, now_ms: int, *, hurries: bool) -> Ready:
        """``hurries``: ignore linger.ms, since memory is short, or everything has to leave."""
        ready = Ready()
        for name, topic in self._queues.topics.items():
            for queue in topic.by_partition.values():
                if queue:
                    self._look_at(queue[0], len(queue), leaders, now_ms, hurries, ready)
            self._weigh(name, topic, leaders)
        return ready

    def _look_at(
        self,
        batch: ProducerBatch,
        waiting: int,
        leaders: Leaders,
        now_ms: int,
        hurries: bool,
        ready: Ready,
    ) -> None:
        place = batch.place
        batch.saw_leader(leaders.epoch(place))
        leader = leaders.of(place)
        if leader is None:
            ready.leaderless[place.topic] = None
        elif place not in self._queues.muted:
            # A ready broker is sent all batches that are not backing off. Still note when this
            # one is due: the batch that makes the broker ready may be held back.
            wait_ms = batch.backoff_ms(now_ms)
            leaves = leader.node_id in ready.nodes or hurries or waiting > 1 or batch.is_full
            if wait_ms == 0 and not leaves:
                wait_ms = max(0, self._settings.linger_ms - batch.waited_ms(now_ms))
            if wait_ms == 0:
                ready.nodes[leader.node_id] = None
            else:
                ready.wait_at_most(wait_ms)

    def _weigh(self, name: str, topic: TopicQueues, leaders: Leaders) -> None:
        """Only once each partition has had a batch: one without would never be drawn."""
        told = leaders.topics.get(name)
        count = len(told.all) if told else 0
        if told is not None:
            topic.have(count)
        if not self._settings.is_adaptive or len(topic.by_partition) < count:
            topic.sticky.weigh_all_alike()
            return
        waiting = topic.by_partition
        # A topic may have been created again, with fewer partitions than had batches.
        have_leaders = told is not None and waiting.keys() == set(told.available)
        if have_leaders and self._latencies.are_all_available:
            topic.sticky.weigh(list(map(len, waiting.values())), list(waiting), len(waiting))
            return
        sizes: dict[int, int] = {}
        for partition, queue in waiting.items():
            leader = leaders.of(TopicPartition(name, partition))
            if leader and not (queue and not self._latencies.is_available(leader.node_id)):
                sizes[partition] = len(queue)
        topic.sticky.weigh(list(sizes.values()), list(sizes), len(waiting))
