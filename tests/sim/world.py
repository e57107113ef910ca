"""All that an observer knows of the cluster, and what one event changed in it.

Committed is what was answered to an acks=all send, lies below a high watermark published by the
leader that ZooKeeper names for that epoch, or was read by a consumer. Once committed, always.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from logquake.chaos.evidence.decisions import Decisions, StateWrite
from logquake.controller.controller import Controller
from logquake.node.composition.parts import Parts
from logquake.node.coordinators.groups.coordinator import GroupCoordinator
from logquake.node.replication.partition.partition import Partition
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.model import ZooKeeperModel
from logquake.zk.znodes.brokers import BrokerRegistration
from logquake.zk.znodes.control import ControllerNode
from tests.sim.history import Acked, Polled, Send
from tests.sim.machine import Machine
from tests.sim.programs.records import Records
from tests.sim.replicas import EMPTY_PREFIX, Batch, Replica
from tests.sim.step import Cut, Mark, Outcome, Start, Step

MADE = "made"  # topics whose names begin so are made by clients, and hold nothing


@dataclass(slots=True)
class Committed:
    """The one true log of a partition, as far as anybody was told."""

    batches: list[Batch] = field(default_factory=list)
    prefixes: dict[int, int] = field(default_factory=lambda: {0: EMPTY_PREFIX})
    end: int = 0

    @property
    def prefix(self) -> int:
        return self.prefixes[self.end]

    def append(self, batch: Batch) -> None:
        self.batches.append(batch)
        self.prefixes[batch.next] = batch.prefix
        self.end = batch.next

    def since(self, start: int) -> list[Batch]:
        """The batches that end after ``start``."""
        return [batch for batch in self.batches if batch.next > start]

    def at(self, first: int) -> Batch | None:
        return next((b for b in reversed(self.batches) if b.first == first), None)


_NOTHING = Committed()


class _Seen(NamedTuple):
    """A replica as it was last looked at."""

    role: str
    epoch: int
    mark: int
    start: int

    @classmethod
    def of(cls, partition: Partition) -> _Seen:
        replica = partition.replica
        role = type(partition.role).__name__
        return cls(role, partition.leader_epoch, replica.high_watermark, replica.start)


@dataclass(slots=True)
class _Spot:
    """A partition of a running broker. ``glance`` is all that a look at it depends on: as long as
    it is the same, a look finds nothing.
    """

    replica: Replica
    glance: tuple[object, ...] = ()


@dataclass(slots=True)
class _Watched:
    """A machine as it was last looked at: after how many of its host's actions, in which life."""

    actions: int = 0
    life: int = 0
    spots: dict[Partition, _Spot] = field(default_factory=dict)


class World:
    """``min_isr`` is the topics' min.insync.replicas."""

    def __init__(self, machines: Sequence[Machine], model: ZooKeeperModel, min_isr: int) -> None:
        self.machines = {machine.broker_id: machine for machine in machines}
        self.min_isr = min_isr
        self.decisions = Decisions(model.history)
        self.replicas: dict[tuple[int, TopicPartition], Replica] = {}
        self.committed: dict[TopicPartition, Committed] = {}
        self.prefix_by_position: dict[tuple[TopicPartition, int, int], int] = {}
        self.controllers: dict[int, int] = {}  # controller epoch -> session
        self.refused: dict[int, frozenset[int]] = {}  # controller epoch -> brokers it calls gone
        self.once_refused: set[int] = set()  # brokers that any controller called gone
        self.sequences: dict[tuple[TopicPartition, int], tuple[int, int]] = {}  # -> epoch, next
        self.values: dict[int, tuple[TopicPartition, int]] = {}
        self._seen: dict[tuple[int, TopicPartition], _Seen] = {}
        self._lives: dict[tuple[int, TopicPartition], int] = {}
        self._watched = {broker: _Watched() for broker in self.machines}
        self.asked_starts: dict[TopicPartition, int] = {}  # the highest that a client wished for
        self.emptied: set[tuple[int, TopicPartition]] = set()  # lost a disk, no ISR has it since
        self.written_again: set[int] = set()  # values: they were deleted, and nobody knew of them
        self.begun_amid: set[TopicPartition] = set()  # their producer's next was not its first
        self._reread: dict[tuple[int, TopicPartition], int] = {}  # producers, of logs up to there
        self.records = Records()
        self._model = model
        self._told: list[Outcome] = []
        self._blank = Step()

    def tell(self, outcome: Outcome) -> None:
        """A client learned something."""
        self._told.append(outcome)

    def observe(self) -> Step | None:
        """Look at everything; what has changed since the last look, if anything has."""
        step = self._blank
        step.acted.clear()
        step.decisions = self.decisions.catch_up()
        for decision in step.decisions:
            if isinstance(decision, StateWrite):
                members = {(broker, decision.partition) for broker in decision.after.isr}
                self.emptied -= members
        for machine in self.machines.values():
            watched = self._watched[machine.broker_id]
            if machine.host.actions != watched.actions:
                watched.actions = machine.host.actions
                step.acted.append(machine)
                self._look_at_controller(machine)
                self._look_at_partitions(machine, watched, step)
        if self._told:
            told, self._told = self._told, []
            step.take_in(told)
            self.records.told += step.told
        if step.is_empty:
            return None
        self._blank = Step()
        self._commit(step)
        return step

    def replica(self, broker: int, partition: TopicPartition) -> Replica:
        key = (broker, partition)
        if key not in self.replicas:
            self.replicas[key] = Replica(broker, partition)
        return self.replicas[key]

    def leaders(self, partition: TopicPartition) -> Iterator[tuple[Machine, Partition]]:
        """The running brokers that believe that they lead."""
        for machine in self.machines.values():
            parts = _parts(machine)
            one = None if parts is None else parts.replicas.partition(*partition)
            if one is not None and one.leader:
                yield machine, one

    def reread(self, broker: int, partition: TopicPartition, end: int) -> None:
        """A broker read anew what its log, up to there, tells of producers."""
        self._reread[broker, partition] = end

    def was_first_known(self, partition: TopicPartition, batch: Batch) -> bool:
        """Whether who appended it had no batch of that producer left: all were deleted. After a
        start it knows none, and takes any sequence for its first, as Kafka's leader does.
        """
        leader = self.decisions.partitions[partition].leaders.get(batch.epoch)
        if leader is None:
            return False
        replica = self.replica(leader, partition)
        return not any(
            earlier.producer_id == batch.producer_id
            and replica.highest_start < earlier.next <= batch.first
            for earlier in replica.batches
        )

    def was_deleted_and_forgotten(
        self, partition: TopicPartition, batch: Batch, before: tuple[TopicPartition, int]
    ) -> bool:
        """Whether who appended it may not know that it was committed ``before``: its log begins
        behind that, and it took this batch, or an earlier one, for its producer's first.
        """
        decided = self.decisions.partitions.get(partition)
        leader = decided.leaders.get(batch.epoch) if decided else None
        if leader is None or before[0] != partition:
            return False
        was_deleted = before[1] < self.replica(leader, partition).highest_start
        is_amid = partition in self.begun_amid or self.was_first_known(partition, batch)
        return was_deleted and is_amid

    def may_have_forgotten(self, broker: int, send: Send) -> bool:
        """Whether a leader may know a later batch of that producer and not this one, as in Kafka.

        Its log begins later; or it read its producers anew, at a start or a cut, when its log had
        both: a snapshot has each producer's last batch alone. Or it took a later one for its first.
        """
        if send.partition in self.begun_amid:
            return True
        replica = self.replica(broker, send.partition)
        if send.value in self.values and self.values[send.value][1] < replica.begins:
            return True
        reread = self._reread.get((broker, send.partition), 0)
        known = [batch for batch in replica.batches if batch.next <= reread]
        sent = next((batch for batch in known if batch.value == send.value), None)
        return sent is not None and any(
            batch.producer_id == sent.producer_id and batch.first > sent.first for batch in known
        )

    def leads(self, broker: int, partition: TopicPartition) -> bool:
        """Whether ZooKeeper names this broker, and the broker knows it."""
        state = self.decisions.partitions[partition].state
        return state is not None and any(
            machine.broker_id == broker == state.leader and one.leader_epoch == state.leader_epoch
            for machine, one in self.leaders(partition)
        )

    def _look_at_controller(self, machine: Machine) -> None:
        controller = hosted_controller(machine)
        if controller is not None and controller.is_active:
            self.refused[controller.epoch] = controller.refused
            self.once_refused |= controller.refused

    def members(self, partition: TopicPartition) -> frozenset[tuple[int, int]]:
        """The ISR's brokers that a leader must take to be alive, each with its epoch.

        They were registered before it was, which was before it was elected: the controller has
        told it of them since, and of no end of theirs. Not so those that ever refused connections.
        """
        history = self.decisions.partitions[partition]
        isr = history.state.isr if history.state else ()
        nodes = {broker: self._model.data(BrokerRegistration.path(broker)) for broker in isr}
        epochs = {broker: node.stat.czxid for broker, node in nodes.items() if node}
        leader_epoch = epochs.get(history.state.leader, 0) if history.state else 0
        if leader_epoch > history.elected_zxid:
            return frozenset()
        return frozenset(
            (broker, epoch)
            for broker, epoch in epochs.items()
            if epoch <= leader_epoch and broker not in self.once_refused
        )

    def ask_start(self, partition: TopicPartition, offset: int) -> None:
        """A client is about to ask that the log start there."""
        known = self.asked_starts.get(partition, 0)
        self.asked_starts[partition] = max(known, offset)

    def lose_disk(self, broker: int) -> None:
        """What a dead broker held is gone."""
        for (of_broker, partition), replica in self.replicas.items():
            if of_broker == broker:
                replica.lose_disk()
                self.emptied.add((broker, partition))

    def controller_id(self) -> int | None:
        """Who is in office, as /controller says."""
        data = self._model.data(ControllerNode.path())
        return None if data is None else ControllerNode.decode(data.data).broker_id

    def is_needed(self, broker: int) -> bool:
        """Whether some ISR relies on what this broker's disk holds, or may do so soon: a leader has
        proposed it.
        """
        states = [
            history.state
            for (topic, _), history in self.decisions.partitions.items()
            if not topic.startswith(MADE)
        ]
        return any(state is None or broker in state.isr for state in states) or any(
            partition.leader is not None and broker in partition.leader.isr.maximal
            for machine in self.machines.values()
            for partition in hosted(machine)
        )

    def _look_at_partitions(self, machine: Machine, watched: _Watched, step: Step) -> None:
        if watched.life != machine.host.incarnation:
            watched.life = machine.host.incarnation
            watched.spots = {}
        for partition in hosted(machine):
            spot = watched.spots.get(partition)
            if spot is None:
                where = TopicPartition(partition.topic, partition.index)
                spot = watched.spots[partition] = _Spot(self.replica(machine.broker_id, where))
            glance = self._glance(spot.replica, partition)
            if glance != spot.glance:
                self._look_at(machine, spot.replica, partition, step)
                spot.glance = glance

    def _glance(self, replica: Replica, partition: Partition) -> tuple[object, ...]:
        held = partition.replica
        log = held.log
        return (
            log.start_offset,
            log.written_end_offset,
            type(partition.role),
            partition.leader_epoch,
            held.high_watermark,
            held.start,
            self.end(replica.partition) if replica.highest_start else None,
        )

    def _look_at(
        self, machine: Machine, replica: Replica, partition: Partition, step: Step
    ) -> None:
        key = (machine.broker_id, replica.partition)
        is_new_life = self._lives.get(key) != machine.host.incarnation
        self._lives[key] = machine.host.incarnation
        before = replica.end
        appended, cut = replica.catch_up(
            partition.replica.log, self._prefix_at(replica.partition), is_new_life=is_new_life
        )
        if is_new_life or cut is not None:
            self.reread(*key, replica.end if cut is None else cut)
        if cut is not None:
            step.cuts.append(Cut(replica, before, cut))
        step.appended.extend((replica, batch) for batch in appended)
        seen = _Seen.of(partition)
        known = None if is_new_life else self._seen.get(key)
        self._seen[key] = seen
        if known is not None and (known.role, known.epoch) != (seen.role, seen.epoch):
            known = None
        if known is None or known.mark != seen.mark:
            was = None if known is None else known.mark
            step.marks.append(Mark(replica, seen.role, seen.epoch, was, seen.mark))
        if known is None or known.start != seen.start:
            was = None if known is None else known.start
            step.starts.append(Start(replica, seen.role, was, seen.start, seen.mark))

    def end(self, partition: TopicPartition) -> int:
        """Of what is committed of it."""
        return self.committed.get(partition, _NOTHING).end

    def _prefix_at(self, partition: TopicPartition) -> Callable[[int], int | None]:
        return self.committed.get(partition, _NOTHING).prefixes.get

    def _commit(self, step: Step) -> None:
        """Extend what is committed by what leaders published and clients were told."""
        for mark in step.marks:
            history = self.decisions.partitions[mark.replica.partition]
            if mark.role == "Leader" and history.leaders.get(mark.epoch) == mark.replica.broker:
                self._extend(mark.replica, mark.after, step)
        told: list[Acked | Polled] = [*step.acked, *step.polled]
        for outcome in told:
            self._extend(self.replica(outcome.broker, outcome.partition), outcome.next, step)

    def _extend(self, replica: Replica, end: int, step: Step) -> None:
        committed = self.committed.setdefault(replica.partition, Committed())
        if end > committed.end:
            for batch in replica.between(committed.end, end):
                committed.append(batch)
                step.committed.append((replica.partition, batch))


def hosted(machine: Machine) -> list[Partition]:
    """The partitions of a running broker."""
    parts = _parts(machine)
    return [] if parts is None else parts.replicas.partitions()


def hosted_controller(machine: Machine) -> Controller | None:
    """The candidate that a running broker hosts."""
    parts = _parts(machine)
    return None if parts is None else parts.controller


def hosted_groups(machine: Machine) -> GroupCoordinator | None:
    """The coordinator of groups of a running broker."""
    parts = _parts(machine)
    return None if parts is None else parts.groups


def _parts(machine: Machine) -> Parts | None:
    """The one place that looks into a broker's memory."""
    return None if machine.broker is None else machine.broker._parts
