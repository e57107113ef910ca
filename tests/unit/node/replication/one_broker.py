"""Partitions over real logs on a disk in memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from logquake.node.metadata.cache import MetadataCache
from logquake.node.replication.manager import ReplicaManager
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.settings import TopicConfig
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.log.log import Log
from logquake.wire.messages.leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicState,
)
from logquake.wire.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaResponse,
    StopReplicaTopicState,
)
from logquake.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from tests.doubles.memory_disk import MemoryDisk

BROKER_ID = 1
TOPIC_ID = b"orders".ljust(16, b"-")


@dataclass
class OneBroker:
    """Broker 1's replica manager; what it sends goes to the scripted network."""

    replicas: ReplicaManager
    disk: MemoryDisk
    log_dirs: LogDirs
    metadata: MetadataCache
    told: list[str]  # of failed log directories, to the outside
    config: TopicConfig = field(default_factory=TopicConfig)

    def partition(self, index: int = 0) -> Partition:
        found = self.replicas.partition("orders", index)
        assert found is not None
        return found

    def future(self, index: int = 0) -> Log:
        """The copy that a move to another directory fills."""
        found = self.log_dirs.future("orders", index)
        assert found is not None
        return found

    def lead(
        self, index: int = 0, *, epoch: int = 0, isr: tuple[int, ...] = (1, 2), **state: Any
    ) -> None:
        self.assign(index, leader=BROKER_ID, epoch=epoch, isr=isr, **state)

    def assign(self, index: int = 0, *, leader: int, epoch: int = 0, **state: Any) -> None:
        self.tell(index, leader=leader, epoch=epoch, **state)

    def tell(
        self,
        index: int,
        *,
        leader: int,
        epoch: int,
        isr: tuple[int, ...] = (1, 2),
        replicas: tuple[int, ...] = (1, 2),
        port: int = 9092,
        leader_is_live: bool = True,
        topic_id: bytes = TOPIC_ID,
    ) -> int:
        """LeaderAndIsr for one partition; the error that it is answered with."""
        state = LeaderAndIsrPartitionState(
            partition_index=index,
            controller_epoch=1,
            leader=leader,
            leader_epoch=epoch,
            isr=list(isr),
            partition_epoch=epoch,
            replicas=list(replicas),
            is_new=epoch == 0,
        )
        request = LeaderAndIsrRequest(
            controller_epoch=1,
            topic_states=[
                LeaderAndIsrTopicState(
                    topic_name="orders", topic_id=topic_id, partition_states=[state]
                )
            ],
            live_leaders=[
                LeaderAndIsrLiveLeader(broker_id=leader, host_name=f"b{leader}", port=port)
            ][: int(leader_is_live)],
        )
        answers: list[LeaderAndIsrResponse] = []
        self.replicas.state_changes.apply_leader_and_isr(
            request, lambda _topic: self.config, answers.append
        )
        (answer,) = answers
        return answer.topics[0].partition_errors[0].error_code

    def delete(self, indexes: Iterable[int]) -> list[StopReplicaResponse]:
        """StopReplica for these; the answers, of which there is one in the end."""
        states = [
            StopReplicaPartitionState(partition_index=index, leader_epoch=-2, delete_partition=True)
            for index in indexes
        ]
        topic = StopReplicaTopicState(topic_name="orders", partition_states=states)
        answers: list[StopReplicaResponse] = []
        self.replicas.state_changes.stop_replicas(
            StopReplicaRequest(controller_epoch=1, topic_states=[topic]), answers.append
        )
        return answers

    def learn_of(self, index: int) -> None:
        """The controller says that there is such a partition, on another broker."""
        state = UpdateMetadataPartitionState(partition_index=index, leader=2, isr=[2], replicas=[2])
        topic = UpdateMetadataTopicState(
            topic_name="orders", topic_id=TOPIC_ID, partition_states=[state]
        )
        self.metadata.update(
            UpdateMetadataRequest(topic_states=[topic], live_brokers=[_live(1), _live(2)])
        )

    def see_live(self, *broker_ids: int) -> None:
        """The controller says who is registered."""
        self.metadata.update(UpdateMetadataRequest(live_brokers=[_live(b) for b in broker_ids]))
        self.replicas.state_changes.on_metadata_update()


def _live(broker_id: int) -> UpdateMetadataBroker:
    endpoint = UpdateMetadataEndpoint(host=f"b{broker_id}", port=9092, listener="PLAINTEXT")
    return UpdateMetadataBroker(id=broker_id, endpoints=[endpoint])
