"""What was decided, as ZooKeeper's writes have it: leaders, ISRs, controllers, brokers, by zxid."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from logquake.wire.sentinels import NO_LEADER
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.applied import Applied
from logquake.zk.operations import ANY_VERSION, Create, Delete, SetData, Write
from logquake.zk.znodes.brokers import IDS_PATH
from logquake.zk.znodes.configs import EntityConfig
from logquake.zk.znodes.control import CONTROLLER_EPOCH_PATH, ControllerEpoch
from logquake.zk.znodes.json_text import MalformedZnode
from logquake.zk.znodes.topics import TOPICS_PATH, PartitionState, TopicAssignment

_STATE = re.compile(rf"{TOPICS_PATH}/([^/]+)/partitions/(\d+)/state")
_TOPIC = re.compile(rf"{TOPICS_PATH}/([^/]+)")
_CONFIG = re.compile(r"/config/topics/([^/]+)")
_BROKER = re.compile(rf"{IDS_PATH}/(\d+)")


@dataclass(frozen=True, slots=True)
class StateWrite:
    """A partition's state was written. ``before`` is None for its first; ``controller_epoch`` is
    what /controller_epoch held at that moment; ``expected_version`` what the write asked for;
    ``replicas`` its assignment then.
    """

    zxid: int
    partition: TopicPartition
    before: PartitionState | None
    after: PartitionState
    version: int
    expected_version: int
    controller_epoch: int
    replicas: tuple[int, ...] = ()
    at_ms: int = 0

    @property
    def elects(self) -> bool:
        return self.before is None or self.before.leader != self.after.leader

    @property
    def is_unclean(self) -> bool:
        """Whether the new leader was not in the ISR before."""
        before, after = self.before, self.after
        if before is None or after.leader in (before.leader, NO_LEADER):
            return False
        return after.leader not in before.isr


@dataclass(frozen=True, slots=True)
class EpochWrite:
    """A controller took office."""

    zxid: int
    session_id: int
    before: int
    after: int
    at_ms: int = 0


@dataclass(frozen=True, slots=True)
class Registration:
    """A broker registered, or its registration went."""

    zxid: int
    broker: int
    is_there: bool
    at_ms: int = 0


Decision = StateWrite | EpochWrite | Registration


@dataclass(slots=True)
class PartitionHistory:
    replicas: tuple[int, ...]
    state: PartitionState | None = None
    version: int = -1
    leaders: dict[int, int] = field(default_factory=dict)  # leader epoch -> broker
    elected_zxid: int = 0  # of the present leader epoch's first state


class Decisions:
    """Reads a history as it grows. ``menders`` are the sessions of people that mend states."""

    def __init__(self, history: Sequence[Applied]) -> None:
        self._history = history
        self._read = 0
        self.partitions: dict[TopicPartition, PartitionHistory] = {}
        self.controller_epoch = 0
        self.menders: set[int] = set()
        self.topics: set[str] = set()
        self.deleted_ms: dict[str, int] = {}  # when a topic of that name was deleted last
        self.configured: dict[str, Mapping[str, str]] = {}  # topics with a configuration

    def catch_up(self) -> list[Decision]:
        if len(self._history) == self._read:
            return []
        new = self._history[self._read :]
        self._read += len(new)
        return [
            decision
            for applied in new
            for write in applied.writes
            for decision in self._decisions(applied, write)
        ]

    def _decisions(self, applied: Applied, write: Write) -> Iterator[Decision]:
        if match := _BROKER.fullmatch(write.path):
            if not isinstance(write, SetData):
                is_there = isinstance(write, Create)
                yield Registration(applied.zxid, int(match[1]), is_there, applied.at_ms)
        elif isinstance(write, Delete):
            self._on_delete(write.path, applied.at_ms)
        elif isinstance(write, (Create, SetData)) and write.data is not None:
            yield from self._on_data(applied, write, write.data)

    def _on_data(
        self, applied: Applied, write: Create | SetData, data: bytes
    ) -> Iterator[Decision]:
        if match := _STATE.fullmatch(write.path):
            partition = TopicPartition(match[1], int(match[2]))
            yield from self._on_state(applied, partition, write, data)
        elif match := _TOPIC.fullmatch(write.path):
            self._on_topic(match[1], TopicAssignment.decode(data))
        elif match := _CONFIG.fullmatch(write.path):
            self.configured[match[1]] = EntityConfig.decode(data).config
        elif write.path == CONTROLLER_EPOCH_PATH:
            before = self.controller_epoch
            self.controller_epoch = after = ControllerEpoch.decode(data).epoch
            if isinstance(write, SetData):  # made with 0, which is nobody's
                yield EpochWrite(applied.zxid, applied.session_id, before, after, applied.at_ms)

    def _on_topic(self, topic: str, assignment: TopicAssignment) -> None:
        self.topics.add(topic)
        for index, replicas in assignment.partitions.items():
            partition = TopicPartition(topic, index)
            self.partitions.setdefault(partition, PartitionHistory(replicas)).replicas = replicas

    def _on_delete(self, path: str, at_ms: int) -> None:
        if match := _TOPIC.fullmatch(path):
            self.topics.discard(match[1])
            self.deleted_ms[match[1]] = at_ms
            for partition in [p for p in self.partitions if p.topic == match[1]]:
                del self.partitions[partition]
        elif match := _CONFIG.fullmatch(path):
            self.configured.pop(match[1], None)

    def _on_state(
        self, applied: Applied, partition: TopicPartition, write: Create | SetData, data: bytes
    ) -> Iterator[StateWrite]:
        """Nothing of what makes no sense, and what it is mended with: neither decides anything."""
        history = self.partitions.setdefault(partition, PartitionHistory(()))
        history.version += 1
        try:
            state = PartitionState.decode(data)
        except MalformedZnode:
            return
        expected = write.version if isinstance(write, SetData) else ANY_VERSION
        before, version = history.state, history.version
        history.state = state
        history.leaders.setdefault(state.leader_epoch, state.leader)
        if applied.session_id in self.menders:
            return
        if before is None or before.leader_epoch != state.leader_epoch:
            history.elected_zxid = applied.zxid
        yield StateWrite(
            applied.zxid,
            partition,
            before,
            state,
            version,
            expected,
            self.controller_epoch,
            history.replicas,
            applied.at_ms,
        )
