"""What the controller commands: LeaderAndIsr and StopReplica, applied in the order they arrive.

Kafka's ReplicaManager.becomeLeaderOrFollower and stopReplicas. A request of an older controller
is refused as a whole; a partition whose leader epoch is not newer than the one known is refused
alone (STALE_CONTROLLER_EPOCH).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from logquake.node.metadata.cache import MetadataCache
from logquake.node.replication.command_queue import CommandQueue, Step
from logquake.node.replication.fetcher.pool import FetcherPool
from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.hosting import Hosting
from logquake.node.replication.moves.moves import ReplicaMoves
from logquake.node.replication.partition import leading
from logquake.node.replication.partition.partition import AssignedState, Partition
from logquake.node.replication.partition.roles import Follower, Offline
from logquake.node.replication.settings import TopicConfig
from logquake.seams.network import Endpoint
from logquake.seams.scheduler import Scheduler
from logquake.storage.errors import StorageError
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from logquake.wire.messages.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)
from logquake.wire.sentinels import EPOCH_DURING_DELETE, NO_LEADER_EPOCH
from logquake.wire.uuids import ZERO_UUID

_PARTITIONS_AT_A_TIME = 25  # requests that arrive meanwhile are served in between

T = TypeVar("T")


class _Told(NamedTuple):
    """One partition of a LeaderAndIsr request."""

    topic: str
    topic_id: bytes | None
    state: LeaderAndIsrPartitionState


class _Stop(NamedTuple):
    """One partition of a StopReplica request."""

    topic: str
    partition: int
    leader_epoch: int
    delete: bool


class _Stopped(NamedTuple):
    """What became of it; ``paths`` are what a deletion left to be removed."""

    asked: _Stop
    error: ErrorCode
    paths: Sequence[str] = ()


class StateChanges:
    def __init__(
        self,
        broker_id: int,
        hosted: HostedPartitions,
        hosting: Hosting,
        fetchers: FetcherPool,
        moves: ReplicaMoves,
        metadata: MetadataCache,
        scheduler: Scheduler,
    ) -> None:
        self._broker_id = broker_id
        self._hosted = hosted
        self._hosting = hosting
        self._fetchers = fetchers
        self._moves = moves
        self._metadata = metadata
        self._scheduler = scheduler
        self._commands = CommandQueue()
        self._controller_epoch = 0
        self.has_orders = False
        """Whether a LeaderAndIsr was applied, since this process began."""

    def accept_controller_epoch(self, epoch: int) -> bool:
        """Take note of a controller's epoch; False where a later one is known."""
        if epoch < self._controller_epoch:
            return False
        self._controller_epoch = epoch
        return True

    def apply_leader_and_isr(
        self,
        request: LeaderAndIsrRequest,
        config_of: Callable[[str], TopicConfig],
        done: Callable[[LeaderAndIsrResponse], None],
        *,
        by_topic_id: bool = True,
    ) -> None:
        """Take on roles, at once or, if there are many, bit by bit; done is called at the end.

        The answer names partitions by topic id, or by name before version 5.
        """

        def command() -> Iterator[Step]:
            if not self.accept_controller_epoch(request.controller_epoch):
                done(LeaderAndIsrResponse(error_code=ErrorCode.STALE_CONTROLLER_EPOCH))
                return
            errors: list[tuple[_Told, ErrorCode]] = []
            live = {
                leader.broker_id: Endpoint(leader.broker_id, leader.host_name, leader.port)
                for leader in request.live_leaders
            }
            in_order = sorted(_told(request), key=lambda t: (t.topic, t.state.partition_index))
            for some in _pieces(in_order):
                if errors:
                    yield self._later
                errors += self._apply_some(some, config_of, live)
            self._fetchers.close_idle()
            self.has_orders = True
            done(_leader_and_isr_response(errors, by_topic_id=by_topic_id))

        self._commands.add(command())

    def close(self) -> None:
        """Begin no further piece of what the controller asked for."""
        self._commands.close()

    def on_metadata_update(self) -> None:
        """The metadata cache has changed: follow leaders that are back by now.

        They were away when LeaderAndIsr named them.

        A leader that stops and returns in the same epoch is not told of in another LeaderAndIsr
        that would be taken: its epoch is not newer. (Kafka drops a state whose leader is not
        live, and stays in the old one, which would make a deposed leader go on leading.)
        """
        stranded = [p for p in self._fetchers.take_stranded() if isinstance(p.role, Follower)]
        self._fetchers.follow(self._with_leaders(stranded, {}))

    def stop_replicas(
        self, request: StopReplicaRequest, done: Callable[[StopReplicaResponse], None]
    ) -> None:
        """Give up replicas; done is called at once, or when what was deleted will not come back."""

        def command() -> Iterator[Step]:
            if not self.accept_controller_epoch(request.controller_epoch):
                done(StopReplicaResponse(error_code=ErrorCode.STALE_CONTROLLER_EPOCH))
                return
            stopped: list[_Stopped] = []
            for some in _pieces(sorted(_stops(request))):
                if stopped:
                    yield self._later
                stopped += map(self._stop, some)
            self._fetchers.close_idle()
            paths = [path for each in stopped for path in each.paths]
            if paths:
                yield partial(self._hosting.settle_deletions, paths)
            done(self._stop_replica_response(stopped))

        self._commands.add(command())

    def _later(self, go_on: Callable[[], None]) -> None:
        self._scheduler.call_later(0, go_on)

    def _stop_replica_response(self, stopped: Iterable[_Stopped]) -> StopReplicaResponse:
        errors = [
            StopReplicaPartitionError(
                topic_name=each.asked.topic,
                partition_index=each.asked.partition,
                error_code=each.error
                if self._hosting.are_settled(each.paths)
                else ErrorCode.KAFKA_STORAGE_ERROR,
            )
            for each in stopped
        ]
        return StopReplicaResponse(partition_errors=errors)

    def _apply_some(
        self,
        some: Iterable[_Told],
        config_of: Callable[[str], TopicConfig],
        live: Mapping[int, Endpoint],
    ) -> list[tuple[_Told, ErrorCode]]:
        followers: list[Partition] = []
        errors = [(told, self._apply(told, config_of(told.topic), followers)) for told in some]
        self._fetchers.follow(self._with_leaders(followers, live))
        return errors

    def _apply(self, told: _Told, config: TopicConfig, followers: list[Partition]) -> ErrorCode:
        state = told.state
        if self._broker_id not in state.replicas:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        partition = self._partition(told, config)
        if isinstance(partition, ErrorCode):
            return partition
        is_newer = state.leader_epoch > partition.leader_epoch
        new_id = told.topic_id if partition.topic_id == ZERO_UUID else None
        # A controller that begins to use topic ids tells them without a new epoch.
        is_naming = new_id is not None and state.leader_epoch == partition.leader_epoch
        if not is_newer and not is_naming:
            return ErrorCode.STALE_CONTROLLER_EPOCH
        if state.partition_epoch < partition.partition_epoch:
            return ErrorCode.NONE  # as Kafka: what is known here is newer
        self._fetchers.forget(partition)
        try:
            if new_id is not None:
                self._hosting.identify(partition, new_id)
            if is_newer:
                self._change_role(partition, state)
            if isinstance(partition.role, Follower):
                followers.append(partition)
            self._moves.resume(partition)
        except StorageError as error:
            partition.go_offline(str(error))
            return ErrorCode.KAFKA_STORAGE_ERROR
        return ErrorCode.NONE

    def _partition(self, told: _Told, config: TopicConfig) -> Partition | ErrorCode:
        index = told.state.partition_index
        partition = self._hosted.get(told.topic, index)
        if partition is None:
            return self._hosting.host(
                told.topic, index, told.topic_id, config, is_new=told.state.is_new
            )
        if told.topic_id is not None and partition.topic_id not in (ZERO_UUID, told.topic_id):
            return ErrorCode.INCONSISTENT_TOPIC_ID
        if isinstance(partition.role, Offline):
            return ErrorCode.KAFKA_STORAGE_ERROR
        return partition

    def _change_role(self, partition: Partition, state: LeaderAndIsrPartitionState) -> None:
        assigned = AssignedState(
            controller_epoch=state.controller_epoch,
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            partition_epoch=state.partition_epoch,
            isr=tuple(state.isr),
            replicas=tuple(state.replicas),
        )
        if state.leader == self._broker_id:
            leader = partition.become_leader(assigned)
            leading.advance_high_watermark(partition, leader)
        else:
            partition.become_follower(assigned)

    def _with_leaders(
        self, followers: Iterable[Partition], live: Mapping[int, Endpoint]
    ) -> Iterator[tuple[Partition, Endpoint]]:
        """Followers with their leaders' addresses; without a live leader there is no fetching."""
        for partition in followers:
            hint = partition.leader_hint()
            if hint is None:
                continue
            endpoint = live.get(hint.leader_id) or self._metadata.endpoint(hint.leader_id)
            if endpoint is None:
                self._fetchers.strand(partition)
            else:
                yield partition, endpoint

    def _stop(self, stop: _Stop) -> _Stopped:
        error = self._stop_role(stop)
        if error is not ErrorCode.NONE or not stop.delete:
            return _Stopped(stop, error)
        deleted = self._hosting.delete(stop.topic, stop.partition)
        if isinstance(deleted, ErrorCode):
            return _Stopped(stop, deleted)
        return _Stopped(stop, ErrorCode.NONE, deleted)

    def _stop_role(self, stop: _Stop) -> ErrorCode:
        partition = self._hosted.get(stop.topic, stop.partition)
        if partition is not None:
            if isinstance(partition.role, Offline):
                return ErrorCode.KAFKA_STORAGE_ERROR
            overrides = stop.leader_epoch in (EPOCH_DURING_DELETE, NO_LEADER_EPOCH)
            if not overrides and stop.leader_epoch < partition.leader_epoch:
                return ErrorCode.FENCED_LEADER_EPOCH
            self._fetchers.forget(partition)
            self._moves.forget(partition)
            partition.stop()
        return ErrorCode.NONE


def _pieces(all_of_it: Sequence[T]) -> Iterator[Sequence[T]]:
    for first in range(0, len(all_of_it), _PARTITIONS_AT_A_TIME):
        yield all_of_it[first : first + _PARTITIONS_AT_A_TIME]


def _told(request: LeaderAndIsrRequest) -> Iterator[_Told]:
    for state in request.ungrouped_partition_states:
        yield _Told(state.topic_name, None, state)
    for topic in request.topic_states:
        topic_id = None if topic.topic_id == ZERO_UUID else topic.topic_id
        for state in topic.partition_states:
            yield _Told(topic.topic_name, topic_id, state)


def _stops(request: StopReplicaRequest) -> Iterator[_Stop]:
    """The partitions of a request of any version."""
    delete_all = request.delete_partitions
    for old in request.ungrouped_partitions:
        yield _Stop(old.topic_name, old.partition_index, NO_LEADER_EPOCH, delete_all)
    for grouped in request.topics:
        for index in grouped.partition_indexes:
            yield _Stop(grouped.name, index, NO_LEADER_EPOCH, delete_all)
    for topic in request.topic_states:
        for state in topic.partition_states:
            yield _Stop(
                topic.topic_name,
                state.partition_index,
                state.leader_epoch,
                state.delete_partition,
            )


def _leader_and_isr_response(
    errors: list[tuple[_Told, ErrorCode]], *, by_topic_id: bool
) -> LeaderAndIsrResponse:
    """Errors by topic id, or by name before version 5."""
    response = LeaderAndIsrResponse(partition_errors=[], topics=[])
    by_id: dict[bytes, LeaderAndIsrTopicError] = {}
    for told, error in errors:
        partition_error = LeaderAndIsrPartitionError(
            topic_name=told.topic,
            partition_index=told.state.partition_index,
            error_code=error,
        )
        if not by_topic_id:
            response.partition_errors.append(partition_error)
            continue
        topic_id = told.topic_id or ZERO_UUID
        topic = by_id.get(topic_id)
        if topic is None:
            topic = by_id[topic_id] = LeaderAndIsrTopicError(topic_id=topic_id, partition_errors=[])
            response.topics.append(topic)
        topic.partition_errors.append(partition_error)
    return response
