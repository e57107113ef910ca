"""The values that the controller decides about: who holds a partition, who leads it, its state.

PartitionStatus and ReplicaStatus are the states of Kafka's PartitionStateMachine and
ReplicaStateMachine; which moves between them are legal stands in the machines of these names.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from typing import NamedTuple

from logquake.wire.topic_partition import TopicPartition


class Replica(NamedTuple):
    """One partition's copy on one broker."""

    partition: TopicPartition
    broker_id: int


class LeaderRecovery(IntEnum):
    """Whether the leader was elected from the ISR (KIP-704)."""

    RECOVERED = 0
    RECOVERING = 1


@dataclass(frozen=True, slots=True)
class LeaderAndIsr:
    """Who leads a partition and who is in sync; ``partition_epoch`` is its znode's version."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    partition_epoch: int
    recovery: LeaderRecovery = LeaderRecovery.RECOVERED

    def succeeded_by(
        self, leader: int, isr: tuple[int, ...], recovery: LeaderRecovery | None = None
    ) -> LeaderAndIsr:
        """The next leader epoch. Recovery stays what it was unless it is given."""
        return replace(
            self,
            leader=leader,
            leader_epoch=self.leader_epoch + 1,
            isr=isr,
            recovery=self.recovery if recovery is None else recovery,
        )

    def as_json(self) -> dict[str, object]:
        """For the journal."""
        return {"leader": self.leader, "leader_epoch": self.leader_epoch, "isr": list(self.isr)}


@dataclass(frozen=True, slots=True)
class Leadership:
    """A LeaderAndIsr and the epoch of the controller that wrote it."""

    state: LeaderAndIsr
    controller_epoch: int


@dataclass(frozen=True, slots=True)
class Assignment:
    """Which brokers hold a partition, the preferred leader first (KIP-455's three lists)."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


class PartitionStatus(Enum):
    NON_EXISTENT = "NonExistentPartition"
    NEW = "NewPartition"  # assigned, no leader yet
    ONLINE = "OnlinePartition"
    OFFLINE = "OfflinePartition"  # had a leader, has none


class ReplicaStatus(Enum):
    NON_EXISTENT = "NonExistentReplica"
    NEW = "NewReplica"
    ONLINE = "OnlineReplica"
    OFFLINE = "OfflineReplica"
    DELETION_STARTED = "ReplicaDeletionStarted"
    DELETION_SUCCESSFUL = "ReplicaDeletionSuccessful"
    DELETION_INELIGIBLE = "ReplicaDeletionIneligible"  # its broker is gone, or answered an error
