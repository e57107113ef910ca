"""Which brokers are to be told of what after a decision, gathered and put in order: pure.

Requests leave as Kafka's do (AbstractControllerBrokerRequestBatch): every LeaderAndIsr, then every
UpdateMetadata, then every StopReplica, brokers ascending. A partition is gathered by name and
looked up when the requests are built, so that a broker never gets a state which a later step of
the same decision has replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from logquake.controller.channels.request_content import ContentBuilder, Sender
from logquake.controller.context.controller_context import ControllerContext
from logquake.controller.context.live_broker import LiveBroker
from logquake.wire.messages.leader_and_isr import LeaderAndIsrRequest
from logquake.wire.messages.stop_replica import StopReplicaRequest
from logquake.wire.messages.update_metadata import UpdateMetadataRequest
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.procedure import SLICE

LEADER_AND_ISR_VERSION = 7
UPDATE_METADATA_VERSION = 8
STOP_REPLICA_VERSION = 4
"""What follows from inter.broker.protocol.version 3.9; brokers are not asked (no ApiVersions)."""

ControlRequest = LeaderAndIsrRequest | UpdateMetadataRequest | StopReplicaRequest


@dataclass(frozen=True, slots=True)
class Outgoing:
    broker_id: int
    request: ControlRequest
    version: int


@dataclass(slots=True)
class ControllerBrokerRequestBatch:
    context: ControllerContext
    _leader_and_isr: dict[int, dict[TopicPartition, bool]] = field(default_factory=dict)
    _informed: set[int] = field(default_factory=set)
    _news: set[TopicPartition] = field(default_factory=set)
    _gone: set[TopicPartition] = field(default_factory=set)
    _stops: dict[int, dict[TopicPartition, bool]] = field(default_factory=dict)

    def lead_or_follow(
        self, broker_ids: Iterable[int], partition: TopicPartition, *, is_new: bool = False
    ) -> None:
        """LeaderAndIsr to these brokers, and UpdateMetadata to all of the cluster."""
        for broker_id in broker_ids:
            partitions = self._leader_and_isr.setdefault(broker_id, {})
            partitions[partition] = is_new or partitions.get(partition, False)
        self.inform(self.context.brokers, [partition])

    def inform(self, broker_ids: Iterable[int], partitions: Iterable[TopicPartition] = ()) -> None:
        """UpdateMetadata: the live brokers always, the state of these partitions."""
        self._informed.update(broker_ids)
        self._news.update(partitions)

    def inform_of_end(self, broker_id: int, partitions: Iterable[TopicPartition]) -> None:
        """UpdateMetadata of partitions whose topic is not known here any more."""
        self._informed.add(broker_id)
        self._gone.update(partitions)

    def stop(self, broker_id: int, partition: TopicPartition, *, delete: bool) -> None:
        partitions = self._stops.setdefault(broker_id, {})
        partitions[partition] = delete or partitions.get(partition, False)

    @property
    def is_large(self) -> bool:
        """One of its requests takes long to build."""
        return max(map(len, (self._news, *self._leader_and_isr.values())), default=0) >= SLICE

    def build(self, sender: Sender) -> Iterator[Outgoing]:
        """Requests in the order in which they are to leave; none to brokers that are gone.

        Each is built when it is come to: the context must stay as it is until the last one.
        """
        builder = ContentBuilder(self.context, sender)
        yield from self._each(self._leader_and_isr, LEADER_AND_ISR_VERSION, builder.leader_and_isr)
        yield from self._metadata(builder)
        yield from self._each(self._stops, STOP_REPLICA_VERSION, builder.stop_replica)

    def _each(
        self,
        gathered: Mapping[int, Mapping[TopicPartition, bool]],
        version: int,
        build: Callable[[LiveBroker, Mapping[TopicPartition, bool]], ControlRequest],
    ) -> Iterator[Outgoing]:
        for broker_id, flags in sorted(gathered.items()):
            if broker_id in self.context.brokers:
                request = build(self.context.brokers[broker_id], flags)
                yield Outgoing(broker_id, request, version)

    def _metadata(self, builder: ContentBuilder) -> Iterator[Outgoing]:
        informed = sorted(self._informed & self.context.brokers.keys())
        if not informed:
            return
        topics = [*builder.metadata_topics(self._news), *builder.gone_topics(self._gone)]
        live = builder.live_brokers()
        for broker_id in informed:
            request = builder.update_metadata(self.context.brokers[broker_id], topics, live)
            yield Outgoing(broker_id, request, UPDATE_METADATA_VERSION)
