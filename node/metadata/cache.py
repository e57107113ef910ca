"""The metadata cache: live brokers, partitions and topic ids, as the controller last told them.

Every broker keeps one, fed by UpdateMetadata alone (Kafka's ZkMetadataCache). It is a step behind
the controller, and may differ between brokers for a moment: clients are told to retry for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from logquake.seams.network import Endpoint
from logquake.wire.listeners import PLAINTEXT, ListenerName, listener_of_protocol
from logquake.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
)
from logquake.wire.sentinels import LEADER_DURING_DELETE
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.uuids import ZERO_UUID


@dataclass(frozen=True, slots=True)
class Node:
    """A live broker, and where those who came by one listener reach it."""

    broker_id: int
    host: str
    port: int
    rack: str | None


@dataclass(slots=True)
class TopicImage:
    """One topic: its id (ZERO_UUID before Kafka 2.8) and its partitions by index."""

    topic_id: bytes = ZERO_UUID
    partitions: dict[int, UpdateMetadataPartitionState] = field(default_factory=dict)


class Touched(NamedTuple):
    """What an UpdateMetadata told of: topics by name, and the partitions that are being deleted."""

    topics: set[str]
    deleted: list[TopicPartition]


class MetadataCache:
    """The image of the cluster. Mutated by update() only.

    ``inter_broker`` names the listener by which brokers reach each other.
    """

    def __init__(self, inter_broker: ListenerName) -> None:
        self._inter_broker = inter_broker
        self._topics: dict[str, TopicImage] = {}
        self._names: dict[bytes, str] = {}
        self._brokers: dict[int, dict[ListenerName, Node]] = {}
        self.controller_id: int | None = None
        self.is_fed = False  # an update came: before it the image is empty, not the cluster

    def update(self, request: UpdateMetadataRequest) -> Touched:
        """Apply one UpdateMetadata; what it touched."""
        self.is_fed = True
        self.controller_id = request.controller_id if request.controller_id >= 0 else None
        self._brokers = {broker.id: _nodes(broker) for broker in request.live_brokers}
        touched = Touched(set(), [])
        for name, topic_id, state in _states(request):
            self._apply(name, topic_id, state)
            touched.topics.add(name)
            if state.leader == LEADER_DURING_DELETE:
                touched.deleted.append(TopicPartition(name, state.partition_index))
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

    # Brokers

    def is_alive(self, broker_id: int) -> bool:
        return broker_id in self._brokers

    def nodes(self, listener: ListenerName) -> list[Node]:
        """The live brokers that have this listener, by id."""
        found = (self.node(broker_id, listener) for broker_id in sorted(self._brokers))
        return [node for node in found if node is not None]

    def node(self, broker_id: int, listener: ListenerName) -> Node | None:
        """None for a broker that is not alive, or that has no such listener."""
        by_listener = self._brokers.get(broker_id)
        return by_listener.get(listener) if by_listener else None

    def endpoint(self, broker_id: int) -> Endpoint | None:
        """Where other brokers reach this one."""
        node = self.node(broker_id, self._inter_broker)
        return Endpoint(broker_id, node.host, node.port) if node else None

    def endpoints(self) -> dict[int, Endpoint]:
        """Of all live brokers that name the listener between brokers, by id."""
        found = ((broker_id, self.endpoint(broker_id)) for broker_id in sorted(self._brokers))
        return {broker_id: endpoint for broker_id, endpoint in found if endpoint is not None}

    # Topics

    def images(self) -> list[tuple[str, TopicImage]]:
        """All topics, by name."""
        return sorted(self._topics.items(), key=lambda item: item[0])

    def topic(self, name: str) -> TopicImage | None:
        return self._topics.get(name)

    def has_topic(self, name: str) -> bool:
        return name in self._topics

    def topic_name(self, topic_id: bytes) -> str | None:
        return self._names.get(topic_id)

    def topic_id(self, name: str) -> bytes:
        """The topic's id, ZERO_UUID where there is none."""
        image = self._topics.get(name)
        return image.topic_id if image else ZERO_UUID

    def partition(self, topic: str, index: int) -> UpdateMetadataPartitionState | None:
        image = self._topics.get(topic)
        return image.partitions.get(index) if image else None

    def names_replica(self, broker_id: int) -> bool:
        """Whether some partition has a replica on this broker. Looks at all of them."""
        return any(
            broker_id in state.replicas
            for image in self._topics.values()
            for state in image.partitions.values()
        )

    def has_leaders(self, topic: str, partitions: Iterable[int]) -> bool:
        """Whether each of these partitions is known to have a live leader."""
        states = (self.partition(topic, index) for index in partitions)
        return all(state is not None and state.leader in self._brokers for state in states)


def _nodes(broker: UpdateMetadataBroker) -> dict[ListenerName, Node]:
    """A broker's addresses, from any version: before v1 there is one, before v3 none is named."""
    if broker.v0_host:
        return {PLAINTEXT: Node(broker.id, broker.v0_host, broker.v0_port, broker.rack)}
    nodes = {}
    for endpoint in broker.endpoints:
        name = endpoint.listener or listener_of_protocol(endpoint.security_protocol)
        if name is not None:
            node = Node(broker.id, endpoint.host, endpoint.port, broker.rack)
            nodes[ListenerName(name)] = node
    return nodes


def _states(
    request: UpdateMetadataRequest,
) -> Iterator[tuple[str, bytes, UpdateMetadataPartitionState]]:
    """Partition states with their topics, from either layout (grouped by topic since v5)."""
    for state in request.ungrouped_partition_states:
        yield state.topic_name, ZERO_UUID, state
    for topic in request.topic_states:
        for state in topic.partition_states:
            yield topic.topic_name, topic.topic_id, state
