"""One partition of __transaction_state, whose coordinator is the real one.

Its log is a list: what is appended lies there once the script lets it be committed, and every
coordinator begins with what the ones before it left. The leaders of the partitions that take part
in transactions, and the controller that has producer ids, are played by the script.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from logquake.node.coordinators.partitions import CoordinatorPartitions
from logquake.node.coordinators.replay import Progress, replay_batches
from logquake.node.coordinators.term import Appended, Term
from logquake.node.coordinators.transactions.coordinator import TransactionCoordinator
from logquake.node.coordinators.transactions.decisions import Decisions
from logquake.node.coordinators.transactions.deleted_topics import DeletedTopics
from logquake.node.coordinators.transactions.log_records import read_key, read_value
from logquake.node.coordinators.transactions.marker_sender import MarkerSender
from logquake.node.coordinators.transactions.metadata import (
    NO_PRODUCER,
    Transaction,
    TransactionMetadata,
)
from logquake.node.coordinators.transactions.partition_state import PartitionState
from logquake.node.coordinators.transactions.settings import TransactionSettings
from logquake.node.coordinators.transactions.states import Empty, state_name
from logquake.node.coordinators.transactions.upkeep import Upkeep
from logquake.node.metadata.cache import MetadataCache
from logquake.seams.journal import Event
from logquake.storage.producers.verification import VerificationGuard
from logquake.wire.errors import ErrorCode
from logquake.wire.listeners import PLAINTEXT
from logquake.wire.messages.transaction_commit import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)
from logquake.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from logquake.wire.records import iterate_batches, iterate_records
from logquake.wire.sentinels import ACKS_ALL, LEADER_DURING_DELETE
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.model_session import ModelServer
from logquake.zk.operations import Create, Delete, Failed, Operation, WatchEvent
from logquake.zk.znodes.parents import create_parents
from tests.doubles.network import ScriptedNetwork, Sent
from tests.doubles.scheduler import ManualScheduler
from tests.golden.player import Chronicle

_BROKERS = (2, 3)
_WALL_CLOCK_START_MS = ManualScheduler().wall_ms()


@dataclass(frozen=True, slots=True)
class _Write:
    """An append that is not answered yet."""

    term: ScriptedTerm
    batch: bytes
    done: Appended


class ScriptedTerm(Term[PartitionState]):
    """A term whose appends the script answers."""

    def __init__(self, world: World, epoch: int) -> None:
        self.state = PartitionState()
        self.lasts = True
        self._world = world
        self._epoch = epoch

    @property
    def index(self) -> int:
        return 0

    @property
    def epoch(self) -> int:
        return self._epoch

    @property
    def max_batch_bytes(self) -> int:
        return self._world.max_batch_bytes

    @property
    def is_current(self) -> bool:
        return self.lasts

    def append(
        self,
        batch: bytearray,
        acks: int,
        timeout_ms: int,
        done: Appended,
        *,
        guard: VerificationGuard | None = None,
    ) -> None:
        assert (acks, guard) == (ACKS_ALL, None)
        self._world.append(_Write(self, bytes(batch), done), timeout_ms)


class ScriptedPartitions(CoordinatorPartitions[PartitionState]):
    """The one partition, to which every transactional id belongs."""

    def __init__(self) -> None:
        self.term: ScriptedTerm | None = None
        self.loads = False

    def __iter__(self) -> Iterator[Term[PartitionState]]:
        return iter(() if self.term is None else (self.term,))

    @property
    def is_loading(self) -> bool:
        return self.loads

    def find(self, _key: str) -> Term[PartitionState] | ErrorCode:
        if self.loads:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return ErrorCode.NOT_COORDINATOR if self.term is None else self.term


class _NoWatcher:
    """A session's owner who needs no word of it."""

    def on_connected(self, session_id: int) -> None: ...

    def on_disconnected(self) -> None: ...

    def on_expired(self) -> None: ...

    def on_watch(self, event: WatchEvent) -> None: ...


class World(Chronicle):
    def __init__(self) -> None:
        super().__init__()
        self.scheduler = ManualScheduler()
        self.network = ScriptedNetwork()
        self.metadata = MetadataCache(PLAINTEXT)
        self.max_batch_bytes = 1_000_000
        self.holds = False
        self.has_producer_ids = True
        self._producer_ids = count()
        self._writes: deque[_Write] = deque()
        self._log = bytearray()
        self._told = 0  # of what was sent
        self.partitions = ScriptedPartitions()
        self._session = ModelServer().connect(_NoWatcher(), lambda step: step())
        self._ask_zookeeper(create_parents())
        deleted = DeletedTopics(self._session)
        markers = MarkerSender(1, self.metadata, deleted, self.network, self.scheduler, self)
        decisions = Decisions(self.scheduler, markers)
        settings = TransactionSettings()
        self._upkeep = Upkeep(settings, decisions, self.scheduler, self)
        self.coordinator = TransactionCoordinator(
            settings,
            self.partitions,
            decisions,
            self._upkeep,
            self.scheduler,
            lambda done: done(next(self._producer_ids) if self.has_producer_ids else None),
        )

    def record(self, event: Event) -> int:
        self.log(f"{event.what} {event.subject}: {event.why}")
        return 0

    # Terms

    def elect(self, epoch: int) -> None:
        """Another coordinator, which knows what the log says and nothing else. That is what the
        one before knew, of everything that was at rest.
        """
        at_rest = self._at_rest()
        self.resign()
        term = ScriptedTerm(self, epoch)
        replay_batches(bytes(self._log), term.state, Progress(0))
        for transactional_id, metadata in at_rest.items():
            found = term.state.get(transactional_id)
            assert found is not None
            assert found.metadata == metadata
        self.partitions.term = term
        self._upkeep.term_began(term)

    def _at_rest(self) -> dict[str, TransactionMetadata]:
        """Without what the log has no place for."""
        return {
            each.transactional_id: replace(
                each.metadata,
                last=NO_PRODUCER,
                state=Empty() if isinstance(each.state, Empty) else each.state,
            )
            for term in self.partitions
            for each in term.state
            if each.pending is None
        }

    def resign(self, *, stays: bool = False) -> None:
        """What is not committed yet may be in the next coordinator's log all the same."""
        term, self.partitions.term = self.partitions.term, None
        if term is None:
            return
        term.lasts = False
        while self._writes:
            self.answer_write(ErrorCode.NOT_LEADER_OR_FOLLOWER, stays=stays)
        self._upkeep.term_ended(term)

    # The log

    def append(self, write: _Write, timeout_ms: int) -> None:
        self._writes.append(write)
        for line in _said(write.batch):
            self.log(f"write within {timeout_ms // 1000}s: {line}")

    def settle(self) -> None:
        """Commit what is appended, unless the script holds it."""
        while self._writes and not self.holds:
            self.answer_write(ErrorCode.NONE)

    def answer_write(self, error: ErrorCode, *, stays: bool = False) -> None:
        """The oldest append. One that ``stays`` is in the log all the same."""
        write = self._writes.popleft()
        if error is ErrorCode.NONE or stays:
            self._log += write.batch
        write.done(error, 0)

    def written(self) -> list[str]:
        return _said(bytes(self._log))

    def exhaust(self, transactional_id: str) -> None:
        """As if its producer had begun anew very often."""
        found = self.coordinator.describe(transactional_id)
        assert isinstance(found, Transaction)
        worn = replace(found.producer, epoch=2**15 - 2)
        found.metadata = replace(found.metadata, producer=worn)

    # The cluster

    def set_leaders(self, leaders: dict[TopicPartition, int], alive: tuple[int, ...]) -> None:
        topics = [
            UpdateMetadataTopicState(
                topic_name=each.topic,
                partition_states=[
                    UpdateMetadataPartitionState(partition_index=each.partition, leader=leader)
                ],
            )
            for each, leader in leaders.items()
        ]
        brokers = [
            UpdateMetadataBroker(
                id=broker_id,
                endpoints=[
                    UpdateMetadataEndpoint(
                        host="h", port=9000 + broker_id, listener=PLAINTEXT, security_protocol=0
                    )
                ],
            )
            for broker_id in alive
        ]
        self.metadata.update(
            UpdateMetadataRequest(controller_id=1, topic_states=topics, live_brokers=brokers)
        )

    def delete(self, partition: TopicPartition) -> None:
        """The brokers are told; in ZooKeeper it stays until no replica has it any more."""
        self.set_leaders({partition: LEADER_DURING_DELETE}, _BROKERS)

    def store(self, path: str) -> None:
        """A znode, whatever it says."""
        self._ask_zookeeper([Create(path, b"no sense")])

    def unstore(self, path: str) -> None:
        self._ask_zookeeper([Delete(path)])

    def _ask_zookeeper(self, operations: Iterable[Operation[Any]]) -> None:
        for each in operations:
            self._session.submit(each, _must_not_fail)

    def take_sent(self) -> list[str]:
        """What went to other brokers since the last time; it stays to be answered."""
        lines = [
            f"markers to {sent.endpoint.broker_id}: {_shown(marker)}"
            for sent in self.network.sent[self._told :]
            for marker in sent.request.markers
        ]
        self._told = len(self.network.sent)
        return lines

    def unanswered(self, broker_id: int) -> Sent:
        found = next(each for each in self.network.sent if each.endpoint.broker_id == broker_id)
        self.network.sent.remove(found)
        self._told -= 1
        return found


def _must_not_fail(outcome: Any) -> None:
    assert not isinstance(outcome, Failed), outcome


def answer_of(sent: Sent, errors: dict[TopicPartition, ErrorCode]) -> WriteTxnMarkersResponse:
    """NONE for every partition that has no error named."""
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id=marker.producer_id,
                topics=[
                    WritableTxnMarkerTopicResult(
                        name=topic.name,
                        partitions=[
                            WritableTxnMarkerPartitionResult(
                                partition_index=index,
                                error_code=errors.get(
                                    TopicPartition(topic.name, index), ErrorCode.NONE
                                ),
                            )
                            for index in topic.partition_indexes
                        ],
                    )
                    for topic in marker.topics
                ],
            )
            for marker in sent.request.markers
        ]
    )


def since_start(wall_ms: int) -> str:
    """Times as a script can say them: seconds since it began."""
    return "-" if wall_ms < 0 else f"{(wall_ms - _WALL_CLOCK_START_MS) / 1000:g}s"


def metadata_line(metadata: TransactionMetadata) -> str:
    state = metadata.state
    partitions = " ".join(map(str, sorted(state.partitions)))
    return (
        f"{state_name(state)} {metadata.producer.id}/{metadata.producer.epoch} [{partitions}] "
        f"began {since_start(state.started_ms)} updated {since_start(metadata.updated_ms)}"
    )


def _said(log: bytes) -> list[str]:
    view = memoryview(log)
    lines = []
    for position, header in iterate_batches(view):
        for record in iterate_records(view, position, header, 1 << 20):
            said = "tombstone" if record.value is None else metadata_line(read_value(record.value))
            lines.append(f"{read_key(record.key or b'')} {said}")
    return lines


def _shown(marker: WritableTxnMarker) -> str:
    partitions = " ".join(
        f"{topic.name}-{index}" for topic in marker.topics for index in topic.partition_indexes
    )
    return (
        f"{'commit' if marker.transaction_result else 'abort'} "
        f"{marker.producer_id}/{marker.producer_epoch} [{partitions}] "
        f"of coordinator epoch {marker.coordinator_epoch}"
    )
