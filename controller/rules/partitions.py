"""The values that the controller decides about: partitions, who holds them, who leads them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple

from logquake.wire.topic_partition import TopicPartition

"""Told to brokers as leader and leader epoch of a topic that is being deleted (KIP-516)."""


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
