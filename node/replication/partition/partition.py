"""One partition on this broker: its epochs, its log, its role, and the moves between roles.

The rules are Kafka 3.9's Partition.makeLeader and makeFollower. The role's own decisions are in
``roles``; writing and ISR changes of a leader are in ``leading``, reading in ``reading``.

Ordering: staged records are written before a role changes, so that no role ever meets records of
another one's time in the stage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from logquake.node.journal_events import RECORDS_DAMAGED, ROLE_CHANGED
from logquake.node.replication.partition.alter_partition import IsrProposal
from logquake.node.replication.partition.isr import CommittedIsr
from logquake.node.replication.partition.progress import FollowerProgress
from logquake.node.replication.partition.replica_log import ReplicaLog
from logquake.node.replication.partition.roles import Follower, Leader, Offline, Role, Unassigned
from logquake.node.replication.resting import Resting
from logquake.node.replication.settings import ReplicationSettings, TopicConfig
from logquake.node.replication.values import LeaderHint
from logquake.seams.journal import Event, Journal
from logquake.seams.scheduler import Scheduler
from logquake.storage.errors import StorageError
from logquake.storage.file_names import parent
from logquake.storage.invariants import asserted_after, must_hold
from logquake.storage.log.log import Log
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import NO_LEADER, NO_LEADER_EPOCH
from logquake.wire.uuids import ZERO_UUID


@dataclass(frozen=True, slots=True)
class AssignedState:
    """What the controller says of one partition (LeaderAndIsrPartitionState)."""

    controller_epoch: int
    leader: int
    leader_epoch: int
    partition_epoch: int  # the version of the partition's state znode
    isr: tuple[int, ...]
    replicas: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PartitionContext:
    """What every partition of one broker shares.

    ``is_alive`` tells whether a broker is registered, as far as the metadata cache knows.

    ``propose`` sends an ISR change to the controller. ``touched`` is told of every partition
    whose readable data, leadership or high watermark changed: whoever waits on it is woken at
    the end of the pass. ``disk_failed`` takes the directory of a partition's log, and why.
    """

    broker_id: int
    settings: ReplicationSettings
    scheduler: Scheduler
    journal: Journal
    is_alive: Callable[[int], bool]
    propose: Callable[[IsrProposal], None]
    touched: Callable[[Partition], None]
    disk_failed: Callable[[str, str], None]


@asserted_after(
    "become_leader", "become_follower", "go_offline", "stop", "rest", "stir", "wake_resting"
)
class Partition:
    """This broker's replica of one partition; ``role`` says what it is at the moment.

    Invariants, besides those of its log and its role:
    - Who leads or follows does so in an epoch that a controller gave.
    - A leader's epoch began within its log, and no entry of the log is of a later epoch.
    - Only a leader has records staged; whoever loses its role has written them before.
    - What a follower's progress takes its times from rests here, and is of that follower.
    - A copy that is being made lies in another directory than the log.
    """

    def __init__(
        self,
        topic: str,
        index: int,
        replica: ReplicaLog,
        config: TopicConfig,
        context: PartitionContext,
    ) -> None:
        self.topic = topic
        self.index = index
        self.name = f"{topic}-{index}"
        self.replica = replica
        self.config = config
        self.context = context
        self.role: Role = Unassigned()
        self.leader_epoch = NO_LEADER_EPOCH
        self.partition_epoch = 0
        self.controller_epoch = 0
        self.future: Log | None = None  # a copy in another log directory, while it is made
        self.changes = 0
        self._resting: dict[Resting, None] = {}
        self._damage: str | None = None  # of the records, as told last

    def check_invariants(self) -> None:
        """Raises InvariantError; called where invariants are asserted (storage/invariants.py)."""
        role, log = self.role, self.replica.log
        if isinstance(role, Offline):
            return  # whatever the disk left
        self.replica.check_invariants()
        if isinstance(role, Leader):
            self._check_leader(role)
        else:
            staged = (log.written_end_offset, log.end_offset)
            must_hold(staged[0] == staged[1], "only leaders stage", role, staged)
        if not isinstance(role, Unassigned):
            must_hold(self.leader_epoch > NO_LEADER_EPOCH, "a role has an epoch", role)
        if self.future is not None:
            places = (log.directory, self.future.directory)
            must_hold(places[0] != places[1], "a copy lies elsewhere", places)

    def _check_leader(self, leader: Leader) -> None:
        leader.check_invariants()
        began, end = leader.epoch_start_offset, self.replica.end
        must_hold(began <= end, "the epoch began within the log", began, end)
        latest = self.replica.latest_epoch
        must_hold(
            latest is None or latest <= self.leader_epoch, "own epoch", latest, self.leader_epoch
        )
        for replica_id, progress in leader.followers.items():
            resting = progress.resting
            must_hold(
                resting is None or (resting in self._resting and resting.replica_id == replica_id),
                "what rests, rests here",
                replica_id,
            )

    @property
    def topic_id(self) -> bytes:
        """The log's, from partition.metadata; ZERO_UUID before the topic has one (KIP-516)."""
        return self.replica.log.topic_id or ZERO_UUID

    @property
    def leader(self) -> Leader | None:
        role = self.role
        return role if type(role) is Leader else None

    @property
    def isr(self) -> Sequence[int]:
        """The committed ISR where this broker leads, else empty: a follower does not know it."""
        leader = self.leader
        return leader.isr.committed if leader else ()

    def leader_hint(self) -> LeaderHint | None:
        role = self.role
        if isinstance(role, Leader):
            return LeaderHint(self.context.broker_id, self.leader_epoch)
        if isinstance(role, Follower) and role.leader_id != NO_LEADER:
            return LeaderHint(role.leader_id, self.leader_epoch)
        return None

    def access_error(self, current_leader_epoch: int, *, only_leader: bool) -> ErrorCode:
        """Why a request that believes in this epoch (NO_LEADER_EPOCH: any) is refused, or NONE."""
        role_type = type(self.role)
        if role_type is Offline:
            return ErrorCode.KAFKA_STORAGE_ERROR
        if 0 <= current_leader_epoch != self.leader_epoch:
            if current_leader_epoch < self.leader_epoch:
                return ErrorCode.FENCED_LEADER_EPOCH
            return ErrorCode.UNKNOWN_LEADER_EPOCH
        if role_type is Leader or (role_type is Follower and not only_leader):
            return ErrorCode.NONE
        return ErrorCode.NOT_LEADER_OR_FOLLOWER

    def become_leader(self, state: AssignedState) -> Leader:
        """Lead from now on, or go on leading in a later epoch. Raises StorageError."""
        self.replica.log.commit()
        leader = self.leader
        newly_elected = leader is None
        leader = leader or Leader(self.context.broker_id)
        leader.assign(state.replicas, CommittedIsr(state.isr))
        if state.leader_epoch > self.leader_epoch:
            # Epochs of this log must cover every epoch a follower may ask about, even if nothing
            # is ever written in this one (KIP-279).
            self.replica.log.epochs.assign(state.leader_epoch, self.replica.end)
            self.replica.log.commit()
            leader.start_epoch(
                self.replica.end, self.context.scheduler.now_ms(), newly_elected=newly_elected
            )
        self._take(state, leader)
        return leader

    def become_follower(self, state: AssignedState) -> None:
        """Follow state.leader (or nobody) from now on. Raises StorageError."""
        self.replica.log.commit()
        self._take(state, Follower(state.leader))

    def go_offline(self, why: str) -> None:
        """Give up the log: the disk failed. The others of its log directory follow."""
        if type(self.role) is Offline:
            return
        with suppress(StorageError):  # nothing may stay staged, written or not
            self.replica.log.commit()
        self._change_role(Offline(why), why)
        self.context.disk_failed(parent(self.replica.log.directory), why)

    def note_damage(self, why: str) -> None:
        """Records here cannot be read, which concerns nobody but who wants these: tell it once."""
        if why != self._damage:
            self._damage = why
            self.context.journal.record(Event(RECORDS_DAMAGED, self.name, why))

    def stop(self) -> None:
        """No replica of this broker any more: whoever waits for it is answered."""
        if isinstance(self.role, Offline | Unassigned):
            return
        try:
            self.replica.log.commit()
        except StorageError as error:
            self.go_offline(str(error))
        else:
            self._change_role(Unassigned(), "the controller stopped this replica")

    # Fetch sessions that look at this partition when it changes, and not before (RestingPlace)

    def rest(self, resting: Resting) -> None:
        self._resting[resting] = None
        progress = self._progress_of(resting)
        if progress is not None:
            if progress.resting is not None:  # in another session of the same follower
                self.rouse(progress.resting)
            progress.resting = resting

    def stir(self, resting: Resting) -> None:
        self._resting.pop(resting, None)
        progress = self._progress_of(resting)
        if progress is not None:
            progress.stir(resting)

    def wake_resting(self) -> None:
        """Something of this partition has changed."""
        self.changes += 1
        while self._resting:
            self.rouse(next(iter(self._resting)))

    def rouse(self, resting: Resting) -> None:
        """Have its session look at this partition again."""
        self.stir(resting)
        resting.wake()

    def _progress_of(self, resting: Resting) -> FollowerProgress | None:
        leader = self.leader
        return leader.followers.get(resting.replica_id) if leader is not None else None

    def reconfigure(self, config: TopicConfig) -> None:
        self.config = config
        self.replica.log.reconfigure(config.log)

    def _take(self, state: AssignedState, role: Role) -> None:
        why = f"controller epoch {state.controller_epoch} made broker {state.leader} the leader"
        self.leader_epoch = state.leader_epoch
        self.partition_epoch = state.partition_epoch
        self.controller_epoch = state.controller_epoch
        self._change_role(role, why)

    def _change_role(self, role: Role, why: str) -> None:
        before = _role_name(self.role)
        self.role = role
        self.context.journal.record(
            Event(
                ROLE_CHANGED,
                self.name,
                f"{why}; log end {self.replica.end}, high watermark {self.replica.high_watermark}",
                before,
                _role_name(role),
                self.leader_epoch,
            )
        )
        self.context.touched(self)


def _role_name(role: Role) -> str:
    return type(role).__name__.lower()
