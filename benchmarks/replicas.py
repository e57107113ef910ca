"""What partitions cost one broker, its replica manager alone: CPU of this process, by partitions.

The broker has a replica of each of N partitions, of three brokers, and leads a third. Time is
virtual, so that a minute of idling is its work alone; what worker threads do is done on the loop,
and counted. Nothing is synced: how often it would have been is counted instead. "hold" is the
longest stretch between two looks at the sockets.

    host      LeaderAndIsr for N partitions that are new
    lead      LeaderAndIsr that makes the broker lead another third, in the next epoch
    metadata  UpdateMetadata of N partitions
    fetch     a follower's incremental Fetch of the third that is led, with nothing new
    write     one record to one of them, up to the high watermark that both followers make
    idle      a minute of what happens by time alone
    delete    StopReplica that deletes a tenth
    truncate  the answer of a leader by which a tenth are cut below their recovery points
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures, Result
from benchmarks.storage.batches import KIB, Shape, produced
from benchmarks.storage.unsynced_disk import UnsyncedDisk
from logquake.node.authorizer.authorizer import AllowAll
from logquake.node.controller_link import ControllerRequests
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.coordinators import CoordinatorTopic
from logquake.node.metadata.topic_names import TRANSACTION_STATE_TOPIC
from logquake.node.net.timers import LoopTimer, TimerQueue
from logquake.node.process.heap import keep_collections_short
from logquake.node.replication.manager import ReplicaManager
from logquake.node.replication.settings import ReplicationSettings, TopicConfig
from logquake.node.replication.values import ProduceEntry, ProduceResult
from logquake.node.requests.downward import DownConversion, DownConversionSettings
from logquake.node.requests.fetch import Fetch
from logquake.node.requests.request import Request
from logquake.seams.network import Channel, Disconnected, Endpoint, Tether
from logquake.storage.dirs.log_dir import LogDirOptions
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.dirs.opening import open_log_dir
from logquake.storage.disk.seam import Disk
from logquake.wire.api import ApiKey
from logquake.wire.header import RequestHeader
from logquake.wire.listeners import PLAINTEXT
from logquake.wire.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
    ReplicaState,
)
from logquake.wire.messages.leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from logquake.wire.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from logquake.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from logquake.wire.records import patch_base
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.journal import NoJournal
from tests.doubles.workers import ScheduledWorkers

SIZES = (100, 1_000, 10_000)

_BROKERS = (1, 2, 3)
_HERE, *_FOLLOWERS = _BROKERS
_LEADER = 2  # of those that are truncated
_TOPIC, _TOPIC_ID = "orders", b"orders".ljust(16, b"-")
_FETCH_VERSION = 17
_MINUTE_MS = 60_000
_FETCHES = 20
_WRITES = 20
_CONFIG = TopicConfig()


class _CountingDisk(UnsyncedDisk):
    """Counts the syncs of folders and of files replaced, which it leaves out."""

    def __init__(self) -> None:
        self.syncs = 0

    def replace(self, path: str, content: bytes) -> None:
        temporary = path + ".tmp"
        Path(temporary).write_bytes(content)
        self.rename(temporary, path)
        self.syncs += 2

    def sync_dir(self, _path: str) -> None:
        self.syncs += 1


class _VirtualTime:
    """A scheduler whose hours pass at once; knows the longest callback, in CPU time."""

    def __init__(self) -> None:
        self._timers = TimerQueue()
        self._now_ms = 0.0
        self.hold_s = 0.0
        self.after_each: Callable[[], None] = lambda: None

    def now_ms(self) -> int:
        return int(self._now_ms)

    def wall_ms(self) -> int:
        return int(time.time() * 1_000)

    def call_later(self, delay_ms: float, action: Callable[[], None]) -> LoopTimer:
        return self._timers.add(self._now_ms + delay_ms, action)

    def held(self, action: Callable[[], object]) -> None:
        """Run action as one pass of a loop."""
        started = time.process_time()
        action()
        self.after_each()
        self.hold_s = max(self.hold_s, time.process_time() - started)

    def pass_by(self, duration_ms: float) -> None:
        end_ms = self._now_ms + duration_ms
        while (due_ms := self._timers.next_due_ms()) is not None and due_ms <= end_ms:
            self._now_ms = max(self._now_ms, due_ms)
            self.held(lambda: self._timers.run_due(self._now_ms))
        self._now_ms = end_ms


class _Network:
    """Takes every request; a Fetch is answered by hand, the others never."""

    def __init__(self) -> None:
        self.fetches: dict[int, _Fetch] = {}  # the latest, by leader

    def channel(self, endpoint: Endpoint, _client_id: str) -> Channel:
        return _LeaderChannel(endpoint.broker_id, self.fetches)

    def tether(
        self,
        _endpoint: Endpoint,
        _held: Callable[[], None],
        _ended: Callable[[Disconnected], None],
    ) -> Tether:
        return _LeaderChannel(_endpoint.broker_id, self.fetches)


@dataclass(frozen=True, slots=True)
class _LeaderChannel:
    broker_id: int
    fetches: dict[int, _Fetch]

    def send(
        self, request: Message, _version: int, done: Callable[[Message | Disconnected], None]
    ) -> None:
        if isinstance(request, FetchRequest):
            self.fetches[self.broker_id] = _Fetch(request, done)

    def close(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class _Fetch:
    request: FetchRequest
    done: Callable[[Message | Disconnected], None]

    def answer(self, **fields: Any) -> None:
        """For each partition that it names."""
        self.answer_for([p.partition for t in self.request.topics for p in t.partitions], **fields)

    def answer_for(self, indexes: Iterable[int], **fields: Any) -> None:
        fields = {"records": None} | fields
        data = [
            PartitionData(partition_index=index, aborted_transactions=None, **fields)
            for index in indexes
        ]
        topic = FetchableTopicResponse(topic_id=_TOPIC_ID, partitions=data)
        self.done(FetchResponse(session_id=1, responses=[topic]))


def _cost_of(broker: _Broker, work: Callable[[], object], per: int) -> Figures:
    broker.time.hold_s = 0.0
    syncs, started = broker.disk.syncs, time.process_time()
    work()
    cpu_s = time.process_time() - started
    return {
        "CPU ms": cpu_s / per * 1e3,
        "hold ms": broker.time.hold_s * 1e3,
        "syncs": (broker.disk.syncs - syncs) / per,
    }


class _Broker:
    """Broker 1's replicas, told and asked by hand."""

    def __init__(self, folder: Path, partitions: int) -> None:
        self.partitions = partitions
        self.time = _VirtualTime()
        self.disk = _CountingDisk()
        self._network = _Network()
        self._cache = MetadataCache(PLAINTEXT)
        disk: Disk = self.disk
        options = LogDirOptions(_HERE, "benchmark-of-replicas0", 0, lambda _topic: _CONFIG.log)
        self._log_dir = open_log_dir(disk, str(folder), options)
        workers = ScheduledWorkers(self.time)
        self.replicas = ReplicaManager(
            _HERE,
            ReplicationSettings(),
            log_dirs=LogDirs([self._log_dir]),
            scheduler=self.time,
            workers=workers,
            network=self._network,
            journal=NoJournal(),
            random=Random(1),
            metadata=self._cache,
            transaction_log=CoordinatorTopic(TRANSACTION_STATE_TOPIC, 1),
            broker_epoch=lambda: 1,
            controller=ControllerRequests(lambda: None, self.time),
        )
        self.time.after_each = self.replicas.end_of_pass
        self._fetch = Fetch(
            self.replicas.sessions,
            self.replicas.fetches,
            self._cache,
            DownConversion(self.replicas, workers, DownConversionSettings()),
            AllowAll(),
            max_bytes=1 << 20,
        )
        self._sessions = dict.fromkeys(_FOLLOWERS, (0, 0))
        self._record = produced(Shape(batch_bytes=2 * KIB), 1)[0]

    def led(self) -> list[int]:
        return list(range(0, self.partitions, len(_BROKERS)))

    def lead(self, partitions: range, leaders: tuple[int, ...], epoch: int) -> None:
        states = [
            LeaderAndIsrPartitionState(
                partition_index=index,
                controller_epoch=1,
                leader=leaders[index % len(_BROKERS)],
                leader_epoch=epoch,
                isr=list(_BROKERS),
                partition_epoch=epoch,
                replicas=list(_BROKERS),
                is_new=epoch == 0,
            )
            for index in partitions
        ]
        topic = LeaderAndIsrTopicState(
            topic_name=_TOPIC, topic_id=_TOPIC_ID, partition_states=states
        )
        live = [LeaderAndIsrLiveLeader(broker_id=b, host_name="b", port=1) for b in _BROKERS]
        request = LeaderAndIsrRequest(controller_epoch=1, topic_states=[topic], live_leaders=live)
        answers: list[Message] = []
        self.time.held(
            lambda: self.replicas.state_changes.apply_leader_and_isr(
                request, lambda _topic: _CONFIG, answers.append
            )
        )
        self._finish(answers)

    def _finish(self, answers: list[Message]) -> None:
        """Wait for the answer of a command that goes on bit by bit."""
        for _ in range(self.partitions):
            if answers:
                return
            self.time.pass_by(1)
        raise BenchmarkError("a command of the controller is not answered")

    def learn(self, epoch: int) -> None:
        states = [
            UpdateMetadataPartitionState(
                partition_index=index,
                leader=_BROKERS[index % len(_BROKERS)],
                leader_epoch=epoch,
                isr=list(_BROKERS),
                replicas=list(_BROKERS),
            )
            for index in range(self.partitions)
        ]
        topic = UpdateMetadataTopicState(
            topic_name=_TOPIC, topic_id=_TOPIC_ID, partition_states=states
        )
        endpoint = UpdateMetadataEndpoint(host="b", port=1, listener="PLAINTEXT")
        live = [UpdateMetadataBroker(id=broker, endpoints=[endpoint]) for broker in _BROKERS]
        request = UpdateMetadataRequest(topic_states=[topic], live_brokers=live)

        def apply() -> None:
            self._cache.update(request)
            self.replicas.state_changes.on_metadata_update()

        self.time.held(apply)

    def follow(self, broker: int, positions: dict[int, int], *, max_wait_ms: int = 0) -> None:
        """One Fetch of a follower that names these partitions, answered."""
        session_id, session_epoch = self._sessions[broker]
        named = [
            FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1 << 20)
            for index, offset in positions.items()
        ]
        body = FetchRequest(
            replica_state=ReplicaState(replica_id=broker, replica_epoch=1),
            max_wait_ms=max_wait_ms,
            min_bytes=1,
            max_bytes=1 << 20,
            session_id=session_id,
            session_epoch=session_epoch,
            topics=[FetchTopic(topic_id=_TOPIC_ID, partitions=named)] if named else [],
        )
        replies: list[Message | None] = []
        header = RequestHeader(ApiKey.FETCH, _FETCH_VERSION, 1, "follower")
        request = Request(
            header, body, 0, "127.0.0.1", PLAINTEXT, replies.append, lambda _why: None
        )
        self.time.held(lambda: self._fetch.handle(request, body))
        self.time.pass_by(max_wait_ms)
        (reply,) = replies
        if not isinstance(reply, FetchResponse) or reply.error_code:
            raise BenchmarkError(f"Fetch is answered with {reply}")
        self._sessions[broker] = (reply.session_id, session_epoch + 1)

    def write(self, index: int, offset: int) -> None:
        """acks=all, and the fetches of both followers that commit it."""
        entry = ProduceEntry(_TOPIC, index, memoryview(bytearray(self._record)))
        acked: list[ProduceResult] = []
        self.time.held(lambda: self.replicas.appends.add([entry], -1, _MINUTE_MS, acked.extend))
        for broker in _FOLLOWERS:
            self.follow(broker, {})
        for broker in _FOLLOWERS:
            self.follow(broker, {index: offset + 1})
        if not acked or acked[0].error:
            raise BenchmarkError(f"the write is answered with {acked}")

    def idle_fetches(self) -> None:
        for _ in range(_FETCHES):
            self.follow(_FOLLOWERS[0], {})

    def writes(self) -> None:
        for offset in range(_WRITES):
            self.write(0, offset)

    def delete(self, partitions: range) -> None:
        states = [
            StopReplicaPartitionState(partition_index=index, leader_epoch=-2, delete_partition=True)
            for index in partitions
        ]
        topic = StopReplicaTopicState(topic_name=_TOPIC, partition_states=states)
        request = StopReplicaRequest(controller_epoch=1, topic_states=[topic])
        answers: list[Message] = []
        self.time.held(lambda: self.replicas.state_changes.stop_replicas(request, answers.append))
        self._finish(answers)

    def follow_leader(self, partitions: Sequence[int]) -> None:
        """Copy a record to each of these, and sync it: the recovery points lie behind it."""
        records = memoryview(bytearray(self._record))
        patch_base(records, 0, base_offset=0, leader_epoch=0)
        fetches = self._network.fetches
        fetches[_LEADER].answer()
        fetches[_LEADER].answer()  # the first one names those of the first piece alone
        fetches[_LEADER].answer_for(partitions, records=records)
        for index in partitions:
            log = self._log_dir.logs[TopicPartition(_TOPIC, index)]
            if not log.end_offset:
                raise BenchmarkError(f"{log.directory} has not taken the leader's record")
            log.sync()
        self._log_dir.offsets.write_recovery_points()

    def truncate(self, partitions: Sequence[int]) -> None:
        fetch = self._network.fetches[_LEADER]
        diverging = EpochEndOffset(epoch=0, end_offset=0)
        self.time.held(lambda: fetch.answer_for(partitions, diverging_epoch=diverging))
        self.time.pass_by(1)
        if any(
            self._log_dir.logs[TopicPartition(_TOPIC, index)].end_offset for index in partitions
        ):
            raise BenchmarkError("a log was not truncated")


def measure_replicas(folder: Path, sizes: Sequence[int]) -> list[Result]:
    """Writes some files a partition below folder, and removes them. Raises BenchmarkError."""
    results: list[Result] = []
    keep_collections_short()  # as a broker's process does
    for partitions in sizes:
        with tempfile.TemporaryDirectory(dir=folder) as made:
            for name, figures in _costs(_Broker(Path(made), partitions)).items():
                results.append(Result(name, f"{partitions} partitions", 1, figures))
    return sorted(results, key=lambda result: result.case)


def _costs(broker: _Broker) -> dict[str, Figures]:
    everything = range(broker.partitions)
    found: dict[str, Figures] = {}

    def measure(name: str, work: Callable[[], object], per: int = 1) -> None:
        found[name] = _cost_of(broker, work, per)

    broker.learn(0)
    measure("host", lambda: broker.lead(everything, _BROKERS, 0))
    measure("metadata", lambda: broker.learn(0))
    for follower in _FOLLOWERS:
        broker.follow(follower, dict.fromkeys(broker.led(), 0))
        broker.follow(follower, {})
    measure("fetch", broker.idle_fetches, _FETCHES)
    measure("write", broker.writes, _WRITES)
    broker.replicas.start()
    broker.time.pass_by(_MINUTE_MS)
    measure("idle", lambda: broker.time.pass_by(_MINUTE_MS))
    # Led by the broker after this one, each third: the broker leads what broker 3 led.
    taken = range(2, broker.partitions, len(_BROKERS))
    measure("lead", lambda: broker.lead(taken, (2, 3, 1), 1))
    tenth = broker.partitions // 10
    measure("delete", lambda: broker.delete(range(tenth)))
    followed = [p for p in everything[tenth:] if _BROKERS[p % len(_BROKERS)] == _LEADER][:tenth]
    broker.follow_leader(followed)
    measure("truncate", lambda: broker.truncate(followed))
    return found
