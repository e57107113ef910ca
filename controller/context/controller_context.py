"""What the controller knows of the cluster in one term of office.

Read in from ZooKeeper when the term begins, then kept in step with every write. It lives and
dies with the term: nothing of it is carried into the next one. It holds and answers; the
decisions are made elsewhere.

Partitions are kept in groups (of a broker, a leader, a status), so that an event costs what it
concerns and not what the cluster has. assign(), take_in(), set_status() and remove_topic() alone
put a partition into its groups; misplaced() tells what they got wrong.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Set
from types import MappingProxyType
from typing import TypeVar

from logquake.controller.context.live_broker import LiveBroker
from logquake.controller.context.partition_groups import PartitionGroups
from logquake.controller.rules.election import Candidates
from logquake.controller.rules.partitions import (
    Assignment,
    Leadership,
    PartitionStatus,
    Replica,
    ReplicaStatus,
)
from logquake.wire.sentinels import EPOCH_DURING_DELETE, NO_LEADER_EPOCH
from logquake.wire.topic_partition import TopicPartition

K = TypeVar("K", bound=Hashable)

UNASSIGNED = Assignment(())


class ControllerContext:
    def __init__(self) -> None:
        self.brokers: dict[int, LiveBroker] = {}
        """Every registered broker that can be reached, those in controlled shutdown included."""
        self.refused: dict[int, LiveBroker] = {}
        """Registered brokers whose address refuses connections: to every decision they are gone."""
        self.unheard_deletions: dict[int, set[TopicPartition]] = {}
        """By refused broker: partitions that are gone since, which it may tell clients of yet."""
        self.shutting_down: set[int] = set()
        """Brokers in controlled shutdown."""
        self.topic_ids: dict[str, bytes] = {}
        self.replica_status: dict[Replica, ReplicaStatus] = {}
        self.replicas_on_offline_dirs: dict[int, set[TopicPartition]] = {}
        """By broker: replicas whose log directory is offline."""
        self.topics_to_delete: set[str] = set()
        self.deletions_started: set[str] = set()
        self.deletions_halted: set[str] = set()
        self._topic_names: dict[bytes, str] = {}
        self._assignments: dict[str, dict[int, Assignment]] = {}
        self._leaderships: dict[TopicPartition, Leadership] = {}
        self._partition_status: dict[TopicPartition, PartitionStatus] = {}
        self.leaderships = MappingProxyType(self._leaderships)
        self.partition_status = MappingProxyType(self._partition_status)
        self._hosted = PartitionGroups[int]()  # by broker
        self._led = PartitionGroups[int]()  # by leader, NO_LEADER among them
        self._preferring = PartitionGroups[tuple[int, bool]]()  # by first replica; does it lead?
        self._in_status = PartitionGroups[PartitionStatus]()

    # --- topics and partitions

    @property
    def topics(self) -> Set[str]:
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
        preference = self._preference(partition)
        for broker_id in self.assignment(partition).replicas:
            self._hosted.remove(partition, broker_id)
        for broker_id in assignment.replicas:
            self._hosted.add(partition, broker_id)
        self._assignments.setdefault(partition.topic, {})[partition.partition] = assignment
        self._preferring.move(partition, preference, self._preference(partition))

    def take_in(self, partition: TopicPartition, leadership: Leadership) -> None:
        """What ZooKeeper has: who leads, and who is in sync."""
        preference = self._preference(partition)
        self._led.move(partition, self._leader(partition), leadership.state.leader)
        self._leaderships[partition] = leadership
        self._preferring.move(partition, preference, self._preference(partition))

    def set_status(self, partition: TopicPartition, status: PartitionStatus) -> None:
        self._in_status.move(partition, self._partition_status.get(partition), status)
        self._partition_status[partition] = status

    def remove_topic(self, topic: str) -> None:
        partitions = self.partitions_of(topic)
        for broker_id in self.refused:
            self.unheard_deletions.setdefault(broker_id, set()).update(partitions)
        for partition in partitions:
            self._forget(partition)
        self._assignments.pop(topic, None)
        self._topic_names.pop(self.topic_ids.pop(topic, b""), None)
        for topics in (self.topics_to_delete, self.deletions_started, self.deletions_halted):
            topics.discard(topic)

    def _forget(self, partition: TopicPartition) -> None:
        self._preferring.move(partition, self._preference(partition), None)
        self._led.move(partition, self._leader(partition), None)
        self._leaderships.pop(partition, None)
        self._in_status.move(partition, self._partition_status.pop(partition, None), None)
        for broker_id in self.assignment(partition).replicas:
            self._hosted.remove(partition, broker_id)
            self.replica_status.pop(Replica(partition, broker_id), None)

    def _leader(self, partition: TopicPartition) -> int | None:
        leadership = self._leaderships.get(partition)
        return None if leadership is None else leadership.state.leader

    def _preference(self, partition: TopicPartition) -> tuple[int, bool] | None:
        replicas = self.assignment(partition).replicas
        leader = self._leader(partition)
        return None if leader is None or not replicas else (replicas[0], replicas[0] == leader)

    def assignment(self, partition: TopicPartition) -> Assignment:
        """UNASSIGNED for a partition that is not known."""
        return self._assignments.get(partition.topic, {}).get(partition.partition, UNASSIGNED)

    def partitions_of(self, topic: str) -> list[TopicPartition]:
        numbers = sorted(self._assignments.get(topic, {}))
        return [TopicPartition(topic, number) for number in numbers]

    def partitions(self) -> list[TopicPartition]:
        """In order of topic and number: what is sent and written comes out the same each time."""
        return [each for topic in sorted(self._assignments) for each in self.partitions_of(topic)]

    def partitions_in(self, *statuses: PartitionStatus) -> list[TopicPartition]:
        """In order, as everything here that is a list."""
        return sorted(each for status in statuses for each in self._in_status.of(status))

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
        """In order of partition; of one partition in order of preference."""
        wanted = set(broker_ids)
        hosted = sorted({each for broker_id in wanted for each in self._hosted.of(broker_id)})
        return [each for each in self.replicas(hosted) if each.broker_id in wanted]

    def replicas_in(self, topic: str, status: ReplicaStatus) -> list[Replica]:
        return [
            each
            for each in self.replicas_of_topic(topic)
            if self.replica_status.get(each) is status
        ]

    def is_online(self, replica: Replica) -> bool:
        """Its broker lives and is not shutting down, and its log directory works."""
        return replica.broker_id not in self.shutting_down and self._is_reachable(replica)

    def _is_reachable(self, replica: Replica) -> bool:
        failed = self.replicas_on_offline_dirs.get(replica.broker_id, ())
        return replica.broker_id in self.brokers and replica.partition not in failed

    def offline_of(self, partition: TopicPartition) -> list[int]:
        """Brokers with a replica that is not online."""
        return [
            each
            for each in self.assignment(partition).replicas
            if each not in self.brokers
            or each in self.shutting_down
            or partition in self.replicas_on_offline_dirs.get(each, ())
        ]

    def candidates(
        self, partition: TopicPartition, *, with_shutting_down: bool = False
    ) -> Candidates:
        """Who may be elected. ``with_shutting_down``: those in controlled shutdown are online."""
        assigned = self.assignment(partition).replicas
        passes = self._is_reachable if with_shutting_down else self.is_online
        online = frozenset(each for each in assigned if passes(Replica(partition, each)))
        return Candidates(assigned, online, frozenset(self.shutting_down))

    # --- leaders

    def leader_epoch(self, partition: TopicPartition) -> int:
        """As StopReplica names it: during a deletion it is past every real epoch."""
        if partition.topic in self.topics_to_delete:
            return EPOCH_DURING_DELETE
        leadership = self.leaderships.get(partition)
        return NO_LEADER_EPOCH if leadership is None else leadership.state.leader_epoch

    def led(self) -> Iterator[tuple[TopicPartition, Leadership]]:
        """Partitions that have a state, without those that are being deleted, in order."""
        for partition in self._staying(self._leaderships):
            yield partition, self._leaderships[partition]

    def led_by(self, broker_id: int) -> list[TopicPartition]:
        return self._staying(self._led.of(broker_id))

    def without_online_leader(self) -> list[TopicPartition]:
        return self._staying(
            partition for leader in self._led.keys for partition in self._lost_by(leader)
        )

    def led_elsewhere(self) -> dict[int, list[TopicPartition]]:
        """By the replica that should lead them: partitions that another one leads, or none."""
        elsewhere = {
            preferred: self._staying(self._preferring.of((preferred, False)))
            for preferred, leads in sorted(self._preferring.keys)
            if not leads
        }
        return {preferred: partitions for preferred, partitions in elsewhere.items() if partitions}

    def preferring_count(self, broker_id: int) -> int:
        """Partitions with a state that this broker should lead."""
        preferring = (self._preferring.of((broker_id, leads)) for leads in (True, False))
        return sum(len(self._staying(partitions)) for partitions in preferring)

    def _lost_by(self, leader: int) -> Iterable[TopicPartition]:
        led = self._led.of(leader)
        if leader not in self.active_broker_ids:
            return led
        return led & self.replicas_on_offline_dirs.get(leader, set())

    def _staying(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        """Those that are not being deleted, in order."""
        return sorted(each for each in partitions if each.topic not in self.topics_to_delete)

    # --- brokers

    def registered(self) -> dict[int, LiveBroker]:
        """Those too whose address refuses connections."""
        return {**self.brokers, **self.refused}

    @property
    def active_broker_ids(self) -> set[int]:
        """Here and not shutting down: who may be in an ISR, lead, or get new partitions."""
        return self.brokers.keys() - self.shutting_down

    def active_racks(self) -> dict[int, str | None]:
        """The racks of the active brokers, in the order of their ids."""
        return {
            each: self.brokers[each].registration.rack for each in sorted(self.active_broker_ids)
        }

    def refuse(self, broker_id: int) -> None:
        """Registered still, and gone to every decision."""
        self.refused[broker_id] = self.forget(broker_id)

    def forget(self, broker_id: int) -> LiveBroker:
        """It has left; what was known of it goes with it."""
        self.replicas_on_offline_dirs.pop(broker_id, None)
        self.shutting_down.discard(broker_id)
        return self.brokers.pop(broker_id)

    # --- proof

    def misplaced(self) -> Iterator[str]:
        """Groups that are not what assignments, leaderships and statuses make them."""
        hosted, preferring = PartitionGroups[int](), PartitionGroups[tuple[int, bool]]()
        for partition in self.partitions():
            for broker_id in self.assignment(partition).replicas:
                hosted.add(partition, broker_id)
            if preference := self._preference(partition):
                preferring.add(partition, preference)
        led, in_status = PartitionGroups[int](), PartitionGroups[PartitionStatus]()
        for partition, leadership in self._leaderships.items():
            led.add(partition, leadership.state.leader)
        for partition, status in self._partition_status.items():
            in_status.add(partition, status)
        yield from _difference("hosted", self._hosted, hosted)
        yield from _difference("led", self._led, led)
        yield from _difference("preferring", self._preferring, preferring)
        yield from _difference("in status", self._in_status, in_status)


def _difference(name: str, found: PartitionGroups[K], wanted: PartitionGroups[K]) -> Iterator[str]:
    if found != wanted:
        yield f"{name} is {found}, and should be {wanted}"
