"""The metadata cache: live brokers, partitions and topic ids, as the controller last told them.

Every broker keeps one, fed by UpdateMetadata alone (Kafka's ZkMetadataCache). It is a step behind
the controller, and may differ between brokers for a moment: clients are told to retry for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from logquake.controller.ports import Endpoint
from logquake.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
)
from logquake.wire.uuids import ZERO_UUID

LEADER_DURING_DELETE = -2  # Kafka's LeaderAndIsr.LeaderDuringDelete: the partition is going
NO_LEADER = -1


@dataclass(frozen=True, slots=True)
class LiveBroker:
    """A registered broker and where clients of one listener reach it."""

    broker_id: int
    host: str
    port: int
    rack: str | None

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.broker_id, self.host, self.port)


@dataclass(slots=True)
class TopicImage:
    """One topic: its id (ZERO_UUID before Kafka 2.8) and its partitions by index."""

    topic_id: bytes = ZERO_UUID
    partitions: dict[int, UpdateMetadataPartitionState] = field(default_factory=dict)


class MetadataCache:
    """The image of the cluster for one listener. Mutated by update() only."""

    def __init__(self, listener_name: str) -> None:
        self._listener_name = listener_name
        self._topics: dict[str, TopicImage] = {}
        self._names: dict[bytes, str] = {}
        self._brokers: dict[int, LiveBroker] = {}
        self.controller_id: int | None = None
        self.is_fed = False  # an update came: before it the image is empty, not the cluster

    def update(self, request: UpdateMetadataRequest) -> set[str]:
        """Apply one UpdateMetadata; the names of the topics that it touched."""
        self.is_fed = True
        self.controller_id = request.controller_id if request.controller_id >= 0 else None
        self._brokers = {
            broker.broker_id: broker
            for broker in (self._live_broker(b) for b in request.live_brokers)
            if broker is not None
        }
        touched = set()
        for name, topic_id, state in _states(request):
            self._apply(name, topic_id, state)
            touched.add(name)
        return touched

    def _apply(self, name: str, topic_id: bytes, state: UpdateMetadataPartitionState) -> None:
        if state.leader == LEADER_DURING_DELETE:
            self._forget(name, state.partition_index)
            return
        image = self._topics.setdefault(name, TopicImage())
        if image.topic_id != topic_id:
            self._names.pop(image.topic_id, None)
            image.topic_id = topic_id
        if topic_id != ZERO_UUID:
            self._names[topic_id] = name
        image.partitions[state.partition_index] = state

    def _forget(self, name: str, partition: int) -> None:
        image = self._topics.get(name)
        if image is None:
            return
        image.partitions.pop(partition, None)
        if not image.partitions:
            self._names.pop(image.topic_id, None)
            del self._topics[name]

    def _live_broker(self, broker: UpdateMetadataBroker) -> LiveBroker | None:
        if broker.v0_host:
            return LiveBroker(broker.id, broker.v0_host, broker.v0_port, broker.rack)
        for endpoint in broker.endpoints:
            if endpoint.listener in ("", self._listener_name):  # versions 1-2 name no listener
                return LiveBroker(broker.id, endpoint.host, endpoint.port, broker.rack)
        return None

    # Brokers

    def brokers(self) -> list[LiveBroker]:
        """The live brokers, by id."""
        return [self._brokers[broker_id] for broker_id in sorted(self._brokers)]

    def broker(self, broker_id: int) -> LiveBroker | None:
        return self._brokers.get(broker_id)

    # Topics

    def topics(self) -> list[str]:
        """The names of all topics, sorted."""
        return sorted(self._topics)

    def topic(self, name: str) -> TopicImage | None:
        return self._topics.get(name)

    def topic_name(self, topic_id: bytes) -> str | None:
        return self._names.get(topic_id)

    def topic_id(self, name: str) -> bytes:
        """The topic's id, ZERO_UUID where there is none."""
        image = self._topics.get(name)
        return image.topic_id if image else ZERO_UUID

    def partition(self, topic: str, index: int) -> UpdateMetadataPartitionState | None:
        image = self._topics.get(topic)
        return image.partitions.get(index) if image else None

    def has_leaders(self, topic: str, partitions: Iterable[int]) -> bool:
        """Whether each of these partitions is known to have a live leader."""
        states = (self.partition(topic, index) for index in partitions)
        return all(state is not None and state.leader in self._brokers for state in states)


def _states(
    request: UpdateMetadataRequest,
) -> Iterator[tuple[str, bytes, UpdateMetadataPartitionState]]:
    """Partition states with their topics, from either layout (grouped by topic since v5)."""
    for state in request.ungrouped_partition_states:
        yield state.topic_name, ZERO_UUID, state
    for topic in request.topic_states:
        for state in topic.partition_states:
            yield topic.topic_name, topic.topic_id, state
