"""What brokers and the controller ask of each other, in every version that is served."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.node.requests.for_controller import (
    AllocateProducerIds,
    AlterPartition,
    ControlledShutdown,
)
from logquake.node.requests.from_controller import LeaderAndIsr, StopReplica, UpdateMetadata
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.broker_to_controller import (
    AllocateProducerIdsRequest,
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    BrokerState,
    ControlledShutdownRequest,
)
from logquake.wire.messages.leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from logquake.wire.messages.metadata import MetadataRequest
from logquake.wire.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaPartitionV0,
    StopReplicaRequest,
    StopReplicaTopicState,
    StopReplicaTopicV1,
)
from logquake.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from tests.unit.node.requests.lone_broker import LoneBroker

NEW_ID = b"\x05" * 16


def lead(version: int, *, controller_epoch: int = 1, broker_epoch: int = -1) -> LeaderAndIsrRequest:
    """This broker is to lead new-0."""
    state = LeaderAndIsrPartitionState(
        partition_index=0,
        controller_epoch=controller_epoch,
        leader=1,
        leader_epoch=0,
        isr=[1],
        replicas=[1],
        is_new=version >= 1,
    )
    common: dict[str, Any] = {
        "controller_id": 1,
        "controller_epoch": controller_epoch,
        "broker_epoch": broker_epoch,
        "live_leaders": [LeaderAndIsrLiveLeader(broker_id=1, host_name="127.0.0.1", port=9092)],
    }
    if version < 2:
        state.topic_name = "new"
        return LeaderAndIsrRequest(ungrouped_partition_states=[state], **common)
    topic = LeaderAndIsrTopicState(topic_name="new", topic_id=NEW_ID, partition_states=[state])
    return LeaderAndIsrRequest(topic_states=[topic], **common)


def errors_in(version: int, reply: Any) -> list[tuple[Any, int, int]]:
    if version >= 5:
        return [
            (topic.topic_id, each.partition_index, each.error_code)
            for topic in reply.topics
            for each in topic.partition_errors
        ]
    return [(e.topic_name, e.partition_index, e.error_code) for e in reply.partition_errors]


@pytest.mark.parametrize("version", LeaderAndIsr.versions)
def test_a_partition_is_led_when_the_controller_says_so(broker: LoneBroker, version: int) -> None:
    reply = broker.ask(lead(version), version)
    assert reply.error_code == ErrorCode.NONE
    assert errors_in(version, reply) == [(NEW_ID if version >= 5 else "new", 0, ErrorCode.NONE)]


@pytest.mark.parametrize("version", LeaderAndIsr.versions)
def test_an_older_controller_is_not_obeyed(broker: LoneBroker, version: int) -> None:
    reply = broker.ask(lead(version, controller_epoch=0), version)
    assert reply.error_code == ErrorCode.STALE_CONTROLLER_EPOCH


@pytest.mark.parametrize("version", range(2, 8))
def test_what_was_meant_for_an_earlier_life_is_refused(broker: LoneBroker, version: int) -> None:
    reply = broker.ask(lead(version, broker_epoch=0), version)
    assert reply.error_code == ErrorCode.STALE_BROKER_EPOCH


def stop(version: int, *, controller_epoch: int = 1, delete: bool = True) -> StopReplicaRequest:
    common: dict[str, Any] = {"controller_id": 1, "controller_epoch": controller_epoch}
    if version == 0:
        partition = StopReplicaPartitionV0(topic_name="orders", partition_index=0)
        return StopReplicaRequest(
            delete_partitions=delete, ungrouped_partitions=[partition], **common
        )
    if version < 3:
        topic = StopReplicaTopicV1(name="orders", partition_indexes=[0])
        return StopReplicaRequest(delete_partitions=delete, topics=[topic], **common)
    state = StopReplicaPartitionState(partition_index=0, leader_epoch=-2, delete_partition=delete)
    topic_state = StopReplicaTopicState(topic_name="orders", partition_states=[state])
    return StopReplicaRequest(topic_states=[topic_state], **common)


@pytest.mark.parametrize("version", StopReplica.versions)
@pytest.mark.parametrize("delete", [True, False])
def test_a_replica_stops(broker: LoneBroker, version: int, delete: bool) -> None:
    reply = broker.ask(stop(version, delete=delete), version)
    (answer,) = reply.partition_errors
    assert (reply.error_code, answer.error_code) == (0, 0)
    assert (answer.topic_name, answer.partition_index) == ("orders", 0)


@pytest.mark.parametrize("version", StopReplica.versions)
def test_an_older_controller_stops_nothing(broker: LoneBroker, version: int) -> None:
    reply = broker.ask(stop(version, controller_epoch=0), version)
    assert reply.error_code == ErrorCode.STALE_CONTROLLER_EPOCH


def tell(version: int, controller_epoch: int = 1) -> UpdateMetadataRequest:
    """Broker 3 leads far-0."""
    state = UpdateMetadataPartitionState(
        partition_index=0, controller_epoch=1, leader=3, leader_epoch=0, isr=[3], replicas=[3]
    )
    node = UpdateMetadataBroker(id=3)
    if version == 0:
        node.v0_host, node.v0_port = "127.0.0.1", 9094
    else:
        name = "PLAINTEXT" if version >= 3 else ""
        node.endpoints = [UpdateMetadataEndpoint(host="127.0.0.1", port=9094, listener=name)]
    common: dict[str, Any] = {
        "controller_id": 1,
        "controller_epoch": controller_epoch,
        "live_brokers": [node],
    }
    if version < 5:
        state.topic_name = "far"
        return UpdateMetadataRequest(ungrouped_partition_states=[state], **common)
    topic = UpdateMetadataTopicState(topic_name="far", topic_id=NEW_ID, partition_states=[state])
    return UpdateMetadataRequest(topic_states=[topic], **common)


@pytest.mark.parametrize("version", UpdateMetadata.versions)
def test_what_the_controller_tells_is_told_on(broker: LoneBroker, version: int) -> None:
    assert broker.ask(tell(version), version).error_code == ErrorCode.NONE
    metadata = broker.ask(MetadataRequest(topics=None), 12)
    assert [(node.node_id, node.port) for node in metadata.brokers] == [(3, 9094)]
    (far,) = [topic for topic in metadata.topics if topic.name == "far"]
    assert far.partitions[0].leader_id == 3


@pytest.mark.parametrize("version", UpdateMetadata.versions)
def test_an_older_controller_tells_nothing(broker: LoneBroker, version: int) -> None:
    reply = broker.ask(tell(version, controller_epoch=0), version)
    assert reply.error_code == ErrorCode.STALE_CONTROLLER_EPOCH


def alter(
    version: int, broker: LoneBroker, name: str = "orders", isr: tuple[int, ...] = (1,), **rest: Any
) -> AlterPartitionRequest:
    partition = AlterPartitionRequestPartitionData(partition_index=0, leader_epoch=0)
    if version >= 3:
        partition.new_isr_with_epochs = [BrokerState(broker_id=each) for each in isr]
    else:
        partition.new_isr = list(isr)
    known = name != "nowhere"
    topic_id = broker.topic_id(name) if known else NEW_ID
    topic = AlterPartitionRequestTopicData(
        topic_name=name, topic_id=topic_id, partitions=[partition]
    )
    return AlterPartitionRequest(broker_id=1, topics=[topic], **rest)


@pytest.mark.parametrize("version", AlterPartition.versions)
def test_an_isr_that_is_the_same_is_confirmed(broker: LoneBroker, version: int) -> None:
    request = alter(version, broker, broker_epoch=broker.epoch())
    reply = broker.ask(request, version)
    (topic,) = reply.topics
    (answer,) = topic.partitions
    assert (reply.error_code, answer.error_code) == (0, 0)
    assert (answer.leader_id, answer.leader_epoch, answer.isr) == (1, 0, [1])
    named = (topic.topic_name, b"") if version < 2 else ("", topic.topic_id)
    assert named in (("orders", b""), ("", broker.topic_id("orders")))


@pytest.mark.parametrize("version", AlterPartition.versions)
def test_a_broker_that_is_not_there_cannot_join_the_isr(broker: LoneBroker, version: int) -> None:
    """KafkaController.tryProcessAlterPartition: INELIGIBLE_REPLICA is younger than version 1."""
    broker.create_topic("absent", assignment=[1, 2])
    request = alter(version, broker, "absent", isr=(1, 2), broker_epoch=broker.epoch())
    (answer,) = broker.ask(request, version).topics[0].partitions
    young, old = ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED
    assert answer.error_code == (young if version >= 2 else old)


@pytest.mark.parametrize("version", AlterPartition.versions)
def test_the_isr_of_an_unknown_topic(broker: LoneBroker, version: int) -> None:
    request = alter(version, broker, "nowhere", broker_epoch=broker.epoch())
    (answer,) = broker.ask(request, version).topics[0].partitions
    by_id = version >= 2
    expected = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert answer.error_code == expected


@pytest.mark.parametrize("version", AlterPartition.versions)
def test_the_isr_from_an_earlier_life(broker: LoneBroker, version: int) -> None:
    reply = broker.ask(alter(version, broker, broker_epoch=-5), version)
    assert reply.error_code == ErrorCode.STALE_BROKER_EPOCH


@pytest.mark.parametrize("version", ControlledShutdown.versions)
def test_the_only_replica_has_nowhere_to_move_to(broker: LoneBroker, version: int) -> None:
    reply = broker.ask(ControlledShutdownRequest(broker_id=1), version)
    assert reply.error_code == ErrorCode.NONE
    assert reply.remaining_partitions == []


@pytest.mark.parametrize("version", ControlledShutdown.versions)
def test_a_broker_that_is_not_there_cannot_shut_down(broker: LoneBroker, version: int) -> None:
    reply = broker.ask(ControlledShutdownRequest(broker_id=9), version)
    assert reply.error_code == ErrorCode.BROKER_NOT_AVAILABLE


@pytest.mark.parametrize("version", AllocateProducerIds.versions)
def test_blocks_of_producer_ids_do_not_overlap(broker: LoneBroker, version: int) -> None:
    request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=broker.epoch())
    first, second = (broker.ask(request, version) for _ in range(2))
    assert (first.error_code, first.producer_id_len) == (0, 1000)
    assert second.producer_id_start == first.producer_id_start + 1000
    stale = broker.ask(AllocateProducerIdsRequest(broker_id=1, broker_epoch=-9), version)
    assert stale.error_code == ErrorCode.STALE_BROKER_EPOCH
    foreign = broker.ask(AllocateProducerIdsRequest(broker_id=9, broker_epoch=1), version)
    assert foreign.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
