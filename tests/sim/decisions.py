"""What ZooKeeper's history says was decided: leaders, ISRs, controllers, by zxid."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from logquake.zk.model import Applied, ZooKeeperModel
from logquake.zk.operations import ANY_VERSION, Create, SetData, Write
from logquake.zk.znodes.control import CONTROLLER_EPOCH_PATH, ControllerEpoch
from logquake.zk.znodes.topics import PartitionState, TopicAssignment
from tests.sim.replicas import TopicPartition

_STATE = re.compile(r"/brokers/topics/([^/]+)/partitions/(\d+)/state")
_TOPIC = re.compile(r"/brokers/topics/([^/]+)")


@dataclass(frozen=True, slots=True)
class StateWrite:
    """A partition's state was written. ``before`` is None for its first; ``controller_epoch`` is
    what /controller_epoch held at that moment; ``expected_version`` what the write asked for.
    """

    zxid: int
    partition: TopicPartition
    before: PartitionState | None
    after: PartitionState
    version: int
    expected_version: int
    controller_epoch: int


@dataclass(frozen=True, slots=True)
class EpochWrite:
    """A controller took office."""

    zxid: int
    session_id: int
    before: int
    after: int


@dataclass(slots=True)
class PartitionHistory:
    replicas: tuple[int, ...]
    state: PartitionState | None = None
    version: int = -1
    leaders: dict[int, int] = field(default_factory=dict)  # leader epoch -> broker
    elected_zxid: int = 0  # of the present leader epoch's first state


class Decisions:
    """Reads the model's history as it grows."""

    def __init__(self, model: ZooKeeperModel) -> None:
        self._model = model
        self._read = 0
        self.partitions: dict[TopicPartition, PartitionHistory] = {}
        self.controller_epoch = 0

    def catch_up(self) -> list[StateWrite | EpochWrite]:
        new = self._model.history[self._read :]
        self._read += len(new)
        return [
            decision
            for applied in new
            for write in applied.writes
            if (decision := self._decision(applied, write)) is not None
        ]

    def _decision(self, applied: Applied, write: Write) -> StateWrite | EpochWrite | None:
        if not isinstance(write, (Create, SetData)) or write.data is None:
            return None
        if match := _STATE.fullmatch(write.path):
            return self._on_state(applied, (match[1], int(match[2])), write, write.data)
        if match := _TOPIC.fullmatch(write.path):
            self._on_topic(match[1], TopicAssignment.decode(write.data))
        elif write.path == CONTROLLER_EPOCH_PATH:
            before = self.controller_epoch
            self.controller_epoch = after = ControllerEpoch.decode(write.data).epoch
            if isinstance(write, SetData):  # made with 0, which is nobody's
                return EpochWrite(applied.zxid, applied.session_id, before, after)
        return None

    def _on_topic(self, topic: str, assignment: TopicAssignment) -> None:
        for index, replicas in assignment.partitions.items():
            self.partitions.setdefault((topic, index), PartitionHistory(replicas))

    def _on_state(
        self, applied: Applied, partition: TopicPartition, write: Create | SetData, data: bytes
    ) -> StateWrite:
        history = self.partitions[partition]
        state = PartitionState.decode(data)
        expected = write.version if isinstance(write, SetData) else ANY_VERSION
        decision = StateWrite(
            applied.zxid,
            partition,
            history.state,
            state,
            history.version + 1,
            expected,
            self.controller_epoch,
        )
        if history.state is None or history.state.leader_epoch != state.leader_epoch:
            history.elected_zxid = applied.zxid
        history.state = state
        history.version += 1
        history.leaders.setdefault(state.leader_epoch, state.leader)
        return decision
