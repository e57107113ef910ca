"""What LeaderAndIsr, UpdateMetadata and StopReplica say, built from the context: pure.

Contents are as Kafka 3.9's controller sends them (AbstractControllerBrokerRequestBatch): brokers
and partitions ascending, a topic that is being deleted with leader -2, every request with the
epoch of the broker that it goes to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from logquake.controller.context.controller_context import ControllerContext
from logquake.controller.context.live_broker import LiveBroker
from logquake.controller.rules.partitions import LeaderAndIsr
from logquake.wire.listeners import SECURITY_PROTOCOL_IDS, ListenerName
from logquake.wire.messages.leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from logquake.wire.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from logquake.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from logquake.wire.sentinels import LEADER_DURING_DELETE
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.uuids import ZERO_UUID


@dataclass(frozen=True, slots=True)
class Sender:
    """Whose requests they are, and by which listener brokers reach each other."""

    controller_id: int
    controller_epoch: int
    listener: ListenerName


_StatesToHost = dict[TopicPartition, LeaderAndIsrPartitionState]


@dataclass(frozen=True, slots=True)
class ContentBuilder:
    """For one batch: what is the same for several brokers is built once."""

    context: ControllerContext
    sender: Sender
    _states_to_host: tuple[_StatesToHost, _StatesToHost] = field(default_factory=lambda: ({}, {}))

    def leader_and_isr(
        self, target: LiveBroker, is_new: Mapping[TopicPartition, bool]
    ) -> LeaderAndIsrRequest:
        known = [each for each in sorted(is_new) if each in self.context.leaderships]
        leaders = {self.context.leaderships[each].state.leader for each in known}
        return LeaderAndIsrRequest(
            controller_id=self.sender.controller_id,
            controller_epoch=self.sender.controller_epoch,
            broker_epoch=target.epoch,
            topic_states=[
                LeaderAndIsrTopicState(
                    topic_name=topic,
                    topic_id=self.context.topic_ids.get(topic, ZERO_UUID),
                    partition_states=[
                        self._to_host_once(each, is_new[each]) for each in partitions
                    ],
                )
                for topic, partitions in _by_topic(known)
            ],
            live_leaders=self._live_leaders(leaders),
        )

    def _to_host_once(self, partition: TopicPartition, is_new: bool) -> LeaderAndIsrPartitionState:
        """The same for each of a partition's brokers."""
        states = self._states_to_host[is_new]
        if partition not in states:
            states[partition] = self._to_host(partition, is_new)
        return states[partition]

    def _to_host(self, partition: TopicPartition, is_new: bool) -> LeaderAndIsrPartitionState:
        leadership = self.context.leaderships[partition]
        assignment = self.context.assignment(partition)
        return LeaderAndIsrPartitionState(
            partition_index=partition.partition,
            controller_epoch=leadership.controller_epoch,
            leader=leadership.state.leader,
            leader_epoch=leadership.state.leader_epoch,
            isr=list(leadership.state.isr),
            partition_epoch=leadership.state.partition_epoch,
            replicas=list(assignment.replicas),
            adding_replicas=list(assignment.adding),
            removing_replicas=list(assignment.removing),
            is_new=is_new,
            leader_recovery_state=leadership.state.recovery,
        )

    def _live_leaders(self, leaders: Collection[int]) -> list[LeaderAndIsrLiveLeader]:
        live = []
        for broker_id in sorted(leaders & self.context.brokers.keys()):
            registration = self.context.brokers[broker_id].registration
            endpoint = registration.endpoint(self.sender.listener)
            if endpoint is not None:
                live.append(
                    LeaderAndIsrLiveLeader(
                        broker_id=broker_id, host_name=endpoint.host, port=endpoint.port
                    )
                )
        return live

    def update_metadata(
        self,
        target: LiveBroker,
        topics: list[UpdateMetadataTopicState],
        live_brokers: list[UpdateMetadataBroker],
    ) -> UpdateMetadataRequest:
        return UpdateMetadataRequest(
            controller_id=self.sender.controller_id,
            controller_epoch=self.sender.controller_epoch,
            broker_epoch=target.epoch,
            topic_states=topics,
            live_brokers=live_brokers,
        )

    def metadata_topics(
        self, partitions: Collection[TopicPartition]
    ) -> list[UpdateMetadataTopicState]:
        known = [each for each in sorted(partitions) if each in self.context.leaderships]
        return [
            UpdateMetadataTopicState(
                topic_name=topic,
                topic_id=self.context.topic_ids.get(topic, ZERO_UUID),
                partition_states=[self._to_all(each) for each in of_topic],
            )
            for topic, of_topic in _by_topic(known)
        ]

    def gone_topics(self, partitions: Collection[TopicPartition]) -> list[UpdateMetadataTopicState]:
        """Of a topic that is deleted nothing is known but that it has no leader."""
        return [
            UpdateMetadataTopicState(
                topic_name=topic,
                partition_states=[
                    UpdateMetadataPartitionState(
                        partition_index=each.partition,
                        controller_epoch=self.sender.controller_epoch,
                        leader=LEADER_DURING_DELETE,
                    )
                    for each in of_topic
                ],
            )
            for topic, of_topic in _by_topic(sorted(partitions))
        ]

    def _to_all(self, partition: TopicPartition) -> UpdateMetadataPartitionState:
        leadership = self.context.leaderships[partition]
        state = leadership.state
        if partition.topic in self.context.topics_to_delete:
            state = LeaderAndIsr(LEADER_DURING_DELETE, 0, state.isr, 0)
        return UpdateMetadataPartitionState(
            partition_index=partition.partition,
            controller_epoch=leadership.controller_epoch,
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            isr=list(state.isr),
            zk_version=state.partition_epoch,
            replicas=list(self.context.assignment(partition).replicas),
            offline_replicas=self.context.offline_of(partition),
        )

    def live_brokers(self) -> list[UpdateMetadataBroker]:
        return [
            UpdateMetadataBroker(
                id=broker_id,
                endpoints=[
                    UpdateMetadataEndpoint(
                        port=endpoint.port,
                        host=endpoint.host,
                        listener=endpoint.listener,
                        security_protocol=SECURITY_PROTOCOL_IDS[endpoint.security_protocol],
                    )
                    for endpoint in broker.registration.endpoints
                ],
                rack=broker.registration.rack,
            )
            for broker_id, broker in sorted(self.context.registered().items())
        ]

    def stop_replica(
        self, target: LiveBroker, delete: Mapping[TopicPartition, bool]
    ) -> StopReplicaRequest:
        return StopReplicaRequest(
            controller_id=self.sender.controller_id,
            controller_epoch=self.sender.controller_epoch,
            broker_epoch=target.epoch,
            topic_states=[
                StopReplicaTopicState(
                    topic_name=topic,
                    partition_states=[
                        StopReplicaPartitionState(
                            partition_index=each.partition,
                            leader_epoch=self.context.leader_epoch(each),
                            delete_partition=delete[each],
                        )
                        for each in partitions
                    ],
                )
                for topic, partitions in _by_topic(sorted(delete))
            ],
        )


def _by_topic(
    partitions: Iterable[TopicPartition],
) -> Iterator[tuple[str, Iterator[TopicPartition]]]:
    """Groups of one topic each; the partitions must come sorted."""
    return groupby(partitions, key=lambda partition: partition.topic)
