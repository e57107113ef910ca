"""What ZooKeeper's history says was decided: leaders, ISRs, controllers, by zxid."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from logquake.wire.topic_partition import TopicPartition
from logquake.zk.applied import Applied
from logquake.zk.model import ZooKeeperModel
from logquake.zk.operations import ANY_VERSION, Create, SetData, Write
from logquake.zk.znodes.control import CONTROLLER_EPOCH_PATH, ControllerEpoch
from logquake.zk.znodes.topics import PartitionState, TopicAssignment

GARBAGE = b"garbage"
_STATE = re.compile(r"/brokers/topics/([^/]+)/partitions/(\d+)/state")
_TOPIC = re.compile(r"/brokers/topics/([^/]+)")
_CONFIG = re.compile(r"/config/topics/([^/]+)")


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
    """Reads the model's history as it grows. ``menders`` are the sessions that mend states."""

    def __init__(self, model: ZooKeeperModel) -> None:
        self._model = model
        self._read = 0
        self.partitions: dict[TopicPartition, PartitionHistory] = {}
        self.controller_epoch = 0
        self.menders: set[int] = set()
        self.topics: set[str] = set()
        self.configured: set[str] = set()  # topics with a configuration

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
            return self._on_state(
                applied, TopicPartition(match[1], int(match[2])), write, write.data
            )
        if match := _TOPIC.fullmatch(write.path):
            self._on_topic(match[1], TopicAssignment.decode(write.data))
        elif match := _CONFIG.fullmatch(write.path):
            self.configured.add(match[1])
        elif write.path == CONTROLLER_EPOCH_PATH:
            before = self.controller_epoch
            self.controller_epoch = after = ControllerEpoch.decode(write.data).epoch
            if isinstance(write, SetData):  # made with 0, which is nobody's
                return EpochWrite(applied.zxid, applied.session_id, before, after)
        return None

    def _on_topic(self, topic: str, assignment: TopicAssignment) -> None:
        self.topics.add(topic)
        for index, replicas in assignment.partitions.items():
            self.partitions.setdefault(TopicPartition(topic, index), PartitionHistory(replicas))

    def _on_state(
        self, applied: Applied, partition: TopicPartition, write: Create | SetData, data: bytes
    ) -> StateWrite | None:
        """None for what makes no sense, and what it is mended with: neither decides anything."""
        history = self.partitions[partition]
        history.version += 1
        if data == GARBAGE:
            return None
        state = PartitionState.decode(data)
        expected = write.version if isinstance(write, SetData) else ANY_VERSION
        before, version = history.state, history.version
        history.state = state
        history.leaders.setdefault(state.leader_epoch, state.leader)
        if applied.session_id in self.menders:
            return None
        if before is None or before.leader_epoch != state.leader_epoch:
            history.elected_zxid = applied.zxid
        epoch = self.controller_epoch
        return StateWrite(applied.zxid, partition, before, state, version, expected, epoch)
