"""What the controller knows of the cluster in one term of office.

Read in from ZooKeeper when the term begins, then kept in step with every write. It lives and
dies with the term: nothing of it is carried into the next one. It holds and answers; the
decisions are made elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from logquake.controller.election import Candidates
from logquake.controller.partitions import (
    EPOCH_DURING_DELETE,
    NO_EPOCH,
    Assignment,
    Leadership,
    Replica,
    TopicPartition,
)
from logquake.controller.transitions import PartitionStatus, ReplicaStatus
from logquake.zk.znodes.brokers import BrokerRegistration

UNASSIGNED = Assignment(())


@dataclass(frozen=True, slots=True)
class LiveBroker:
    """A registration and its epoch: the czxid of its znode, another one after every restart."""

    registration: BrokerRegistration
    epoch: int


class ControllerContext:
    def __init__(self) -> None:
        self.brokers: dict[int, LiveBroker] = {}
        """Every registered broker, those in controlled shutdown included."""
        self.leaving: set[int] = set()
        """Brokers in controlled shutdown."""
        self.topic_ids: dict[str, bytes] = {}
        self.leaderships: dict[TopicPartition, Leadership] = {}
        self.partition_status: dict[TopicPartition, PartitionStatus] = {}
        self.replica_status: dict[Replica, ReplicaStatus] = {}
        self.failed_replicas: dict[int, set[TopicPartition]] = {}
        """By broker: replicas whose log directory is offline."""
        self.topics_to_delete: set[str] = set()
        self.deletions_started: set[str] = set()
        self.deletions_halted: set[str] = set()
        self._assignments: dict[str, dict[int, Assignment]] = {}
        self._topic_names: dict[bytes, str] = {}

    # --- topics and partitions

    @property
    def topics(self) -> Iterable[str]:
        return self._assignments.keys()

    def has_topic(self, topic: str) -> bool:
        return topic in self._assignments

    def add_topic(self, topic: str, topic_id: bytes) -> None:
        """Partitions follow by assign()."""
        self._assignments.setdefault(topic, {})
        self.topic_ids[topic] = topic_id
        self._topic_names[topic_id] = topic

    def topic_name(self, topic_id: bytes) -> str | None:
        return self._topic_names.get(topic_id)

    def assign(self, partition: TopicPartition, assignment: Assignment) -> None:
        self._assignments.setdefault(partition.topic, {})[partition.partition] = assignment

    def assignment(self, partition: TopicPartition) -> Assignment:
        """UNASSIGNED for a partition that is not known."""
        return self._assignments.get(partition.topic, {}).get(partition.partition, UNASSIGNED)

    def remove_topic(self, topic: str) -> None:
        for partition in self.partitions_of(topic):
            self.leaderships.pop(partition, None)
            self.partition_status.pop(partition, None)
            for broker_id in self.assignment(partition).replicas:
                self.replica_status.pop(Replica(partition, broker_id), None)
        self._assignments.pop(topic, None)
        self._topic_names.pop(self.topic_ids.pop(topic, b""), None)
        for topics in (self.topics_to_delete, self.deletions_started, self.deletions_halted):
            topics.discard(topic)

    def partitions_of(self, topic: str) -> list[TopicPartition]:
        numbers = sorted(self._assignments.get(topic, {}))
        return [TopicPartition(topic, number) for number in numbers]

    def partitions(self) -> list[TopicPartition]:
        """In order of topic and number: what is sent and written comes out the same each time."""
        return [each for topic in sorted(self._assignments) for each in self.partitions_of(topic)]

    def partitions_in(self, *statuses: PartitionStatus) -> list[TopicPartition]:
        return [each for each in self.partitions() if self.partition_status.get(each) in statuses]

    # --- replicas

    def replicas(self, partitions: Iterable[TopicPartition]) -> list[Replica]:
        return [
            Replica(partition, broker_id)
            for partition in partitions
            for broker_id in self.assignment(partition).replicas
        ]

    def replicas_of_topic(self, topic: str) -> list[Replica]:
        return self.replicas(self.partitions_of(topic))

    def replicas_on(self, broker_ids: Iterable[int]) -> list[Replica]:
        wanted = set(broker_ids)
        return [each for each in self.replicas(self.partitions()) if each.broker_id in wanted]

    def replicas_in(self, topic: str, status: ReplicaStatus) -> list[Replica]:
        return [
            each
            for each in self.replicas_of_topic(topic)
            if self.replica_status.get(each) is status
        ]

    def is_online(self, replica: Replica) -> bool:
        """Its broker lives and is not leaving, and its log directory works."""
        return replica.broker_id not in self.leaving and self._is_reachable(replica)

    def _is_reachable(self, replica: Replica) -> bool:
        failed = self.failed_replicas.get(replica.broker_id, ())
        return replica.broker_id in self.brokers and replica.partition not in failed

    def candidates(self, partition: TopicPartition, *, with_leaving: bool = False) -> Candidates:
        """Who may be elected; ``with_leaving`` counts brokers in controlled shutdown as online."""
        assigned = self.assignment(partition).replicas
        passes = self._is_reachable if with_leaving else self.is_online
        online = frozenset(each for each in assigned if passes(Replica(partition, each)))
        return Candidates(assigned, online, frozenset(self.leaving))

    # --- leaders

    def leader_epoch(self, partition: TopicPartition) -> int:
        """As StopReplica names it: during a deletion it is past every real epoch."""
        if partition.topic in self.topics_to_delete:
            return EPOCH_DURING_DELETE
        leadership = self.leaderships.get(partition)
        return NO_EPOCH if leadership is None else leadership.state.leader_epoch

    def led(self) -> Iterator[tuple[TopicPartition, Leadership]]:
        """Partitions that have a state, without those that are being deleted, in order."""
        for partition in sorted(self.leaderships):
            if partition.topic not in self.topics_to_delete:
                yield partition, self.leaderships[partition]

    def led_by(self, broker_id: int) -> list[TopicPartition]:
        return [each for each, leadership in self.led() if leadership.state.leader == broker_id]

    def without_online_leader(self) -> list[TopicPartition]:
        return [
            partition
            for partition, leadership in self.led()
            if not self.is_online(Replica(partition, leadership.state.leader))
        ]

    # --- brokers

    @property
    def active_broker_ids(self) -> set[int]:
        """Registered and not leaving: who may be in an ISR, lead, or get new partitions."""
        return self.brokers.keys() - self.leaving
