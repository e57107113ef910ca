"""A few brokers' replicas without the rest of them: replica managers over memory disks.

Requests between brokers cross a network that encodes and decodes them; the controller is a table
of partition states that accepts, holds or refuses ISR changes. Time moves by hand.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import count
from random import Random
from typing import Any

from logquake.node.authorizer.authorizer import AllowAll
from logquake.node.controller_link import ControllerRequests
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.coordinators import CoordinatorTopic
from logquake.node.metadata.topic_names import TRANSACTION_STATE_TOPIC
from logquake.node.replication.manager import ReplicaManager
from logquake.node.replication.settings import ReplicationSettings, TopicConfig
from logquake.node.requests.downward import DownConversion, DownConversionSettings
from logquake.node.requests.fetch import Fetch
from logquake.node.requests.handler import Handler
from logquake.node.requests.list_offsets import ListOffsets
from logquake.node.requests.request import Request
from logquake.seams.journal import Event
from logquake.seams.network import Channel, Disconnected, Endpoint, Tether
from logquake.storage.dirs.log_dir import LogDirOptions
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.dirs.opening import open_log_dir
from logquake.wire.errors import ErrorCode
from logquake.wire.header import RequestHeader
from logquake.wire.listeners import ListenerName
from logquake.wire.messages.broker_to_controller import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    AlterPartitionResponseTopicData,
)
from logquake.wire.messages.fetch import FetchRequest, FetchResponse
from logquake.wire.messages.leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicState,
)
from logquake.wire.messages.offsets import ListOffsetsRequest
from logquake.wire.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaResponse,
    StopReplicaTopicState,
)
from logquake.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataRequest,
)
from logquake.wire.schema import Message, decode, encode_parts
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.memory_disk import MemoryDisk, Unsynced
from tests.doubles.network import Done, InFlight
from tests.doubles.scheduler import ManualScheduler, MortalScheduler
from tests.doubles.workers import ScheduledWorkers
from tests.golden.player import Chronicle
from tests.parts import joined

LISTENER = ListenerName("PLAINTEXT")
CLUSTER_ID = "nuPQdOmPTNSLpn_S3CpZjQ"
DELETION_MS = 2  # what a deletion takes that a worker thread makes last
MAX_EVENTS = 1_000  # at one moment: more is a livelock


@dataclass
class ControlState:
    """What the controller holds of one partition."""

    leader: int
    leader_epoch: int
    version: int
    isr: list[int]
    replicas: list[int]


class Wire:
    """A connection of one broker to another, or to the controller."""

    def __init__(self, world: World, source: int, target: int) -> None:
        self._world = world
        self.source = source
        self.target = target
        self.in_flight = InFlight()

    def send(self, request: Message, version: int, done: Done) -> None:
        settle = self.in_flight.add(done)
        copy = recode(request, version)
        self._world.trace(self.source, self.target, copy)
        self._world.post(lambda: self._world.deliver(self, copy, version, settle))

    def close(self) -> None:
        self.in_flight.lose("closed")


class Node:
    """One broker, from its start to its crash."""

    def __init__(self, world: World, broker_id: int, disk: MemoryDisk, epoch: int) -> None:
        self.world = world
        self.broker_id = broker_id
        self.disk = disk
        self.epoch = epoch
        self.wires: list[Wire] = []
        self.scheduler = MortalScheduler(world.scheduler)
        self.metadata = MetadataCache(LISTENER)
        self.log_dir = open_log_dir(
            disk,
            "/data",
            LogDirOptions(
                broker_id,
                CLUSTER_ID,
                1_700_000_000_000,
                lambda topic: world.configs[topic].log,
                lambda: f"{next(world.unique):032x}",
            ),
        )
        self.replicas = ReplicaManager(
            broker_id,
            world.settings,
            log_dirs=LogDirs([self.log_dir]),
            scheduler=self.scheduler,
            workers=ScheduledWorkers(self.scheduler),
            network=self,
            journal=self,
            random=Random(broker_id),
            metadata=self.metadata,
            transaction_log=CoordinatorTopic(TRANSACTION_STATE_TOPIC, 1),
            broker_epoch=lambda: self.epoch,
            controller=ControllerRequests(
                lambda: self.channel(Endpoint(world.CONTROLLER, "controller", 0), ""),
                self.scheduler,
            ),
        )
        downward = DownConversion(
            self.replicas, ScheduledWorkers(self.scheduler), DownConversionSettings()
        )
        self.handlers: dict[type[Message], Handler[Any]] = {
            FetchRequest: Fetch(
                self.replicas.sessions,
                self.replicas.fetches,
                self.metadata,
                downward,
                AllowAll(),
                max_bytes=1 << 20,
            ),
            ListOffsetsRequest: ListOffsets(self.replicas, AllowAll()),
        }
        self.replicas.start()

    def channel(self, endpoint: Endpoint, _client_id: str) -> Channel:
        wire = Wire(self.world, self.broker_id, endpoint.broker_id)
        self.wires.append(wire)
        return wire

    def tether(
        self,
        endpoint: Endpoint,
        held: Callable[[], None],
        ended: Callable[[Disconnected], None],
    ) -> Tether:
        raise AssertionError(f"replicas watch over nobody: {endpoint}, {held}, {ended}")

    def record(self, event: Event) -> int:
        change = "" if event.before is None else f" {event.before} -> {event.after}"
        epoch = "" if event.epoch is None else f" epoch {event.epoch}"
        line = f"{self.broker_id} {event.what} {event.subject}{change}{epoch}: {event.why}"
        self.world.log(line)
        return next(self.world.unique)

    def handle(self, request: Message, version: int, reply: Callable[[Message], None]) -> None:
        header = RequestHeader(request.__schema__.key or 0, version, 0)
        answer: Callable[[Message | None], None] = lambda m: reply(m) if m else None  # noqa: E731
        now = self.world.scheduler.now_ms()
        asked = Request(header, request, now, "h", LISTENER, answer, self.world.log)
        self.handlers[type(request)].handle(asked, request)


class World(Chronicle):
    CONTROLLER = -1

    def __init__(self) -> None:
        super().__init__()
        self.scheduler = ManualScheduler()
        self.settings = ReplicationSettings(
            replica_lag_time_max_ms=10_000,
            isr_broker_epochs=True,
        )
        self.configs: dict[str, TopicConfig] = {}
        self.unique = count()
        self.nodes: dict[int, Node] = {}
        self.states: dict[str, ControlState] = {}
        self.cut: set[frozenset[int]] = set()
        self.controller_answer = "accept"
        self.held: list[tuple[AlterPartitionRequest, Done]] = []
        self.tracing = False
        self.alive: set[int] = set()
        self._disks: dict[int, MemoryDisk] = {}
        self._posted: deque[Callable[[], None]] = deque()

    # Events, one at a time

    def post(self, action: Callable[[], None]) -> None:
        self._posted.append(action)

    def settle(self) -> None:
        """Run all that is due now; every broker ends its pass after each event."""
        self._end_passes()
        for _ in range(MAX_EVENTS):
            if not self._posted:
                return
            self._posted.popleft()()
            self._end_passes()
        raise RuntimeError(f"no rest after {MAX_EVENTS} events")

    def pass_time(self, duration_ms: int) -> None:
        end_ms = self.scheduler.now_ms() + duration_ms
        while (action := self.scheduler.take_due(end_ms)) is not None:
            action()
            self.settle()
        self.scheduler.stand_at(end_ms)

    def _end_passes(self) -> None:
        for node in list(self.nodes.values()):
            node.replicas.end_of_pass()

    # Brokers

    def write_old_log(self, broker_id: int, name: str, message_set: bytes, mark: int) -> None:
        """What a broker that knew no leader epochs left on a disk, its high watermark with it."""
        topic, _, index = name.rpartition("-")
        options = LogDirOptions(broker_id, CLUSTER_ID, 0, lambda topic: self.configs[topic].log)
        log_dir = open_log_dir(self._disk(broker_id), "/data", options)
        log = log_dir.create_log(topic, int(index), None, self.configs[topic].log)
        log.stage_as_follower(memoryview(message_set))
        log.commit()
        log_dir.offsets.write_high_watermarks({TopicPartition(topic, int(index)): mark})
        log_dir.close(clean=True)

    def _disk(self, broker_id: int) -> MemoryDisk:
        return self._disks.setdefault(broker_id, MemoryDisk())

    def start(self, broker_id: int) -> None:
        disk = self._disk(broker_id)
        self.nodes[broker_id] = Node(self, broker_id, disk, 100 * (1 + next(self.unique)))
        self.set_alive({*self.alive, broker_id})

    def crash(self, broker_id: int, *, wipe: bool) -> None:
        node = self.nodes.pop(broker_id)
        node.scheduler.die()
        for wire in [*node.wires, *self._wires_to(broker_id)]:
            self.post(partial(wire.in_flight.lose, "reset"))
        for wire in node.wires:
            wire.in_flight.forget()
        if wipe:
            del self._disks[broker_id]
        else:
            node.disk.crash(Unsynced.KEPT)

    def set_alive(self, brokers: Iterable[int]) -> None:
        """What the brokers are told of who is registered."""
        self.alive = set(brokers)
        live = [
            UpdateMetadataBroker(
                id=broker,
                endpoints=[UpdateMetadataEndpoint(host=f"b{broker}", port=9092, listener=LISTENER)],
            )
            for broker in sorted(self.alive)
        ]
        for node in self.nodes.values():
            node.metadata.update(UpdateMetadataRequest(live_brokers=live))

    # The network

    def sever(self, one: int, other: int) -> None:
        self.cut.add(frozenset({one, other}))
        for node in self.nodes.values():
            for wire in node.wires:
                if frozenset({wire.source, wire.target}) in self.cut:
                    wire.in_flight.lose("cut")

    def deliver(self, wire: Wire, request: Message, version: int, done: Done) -> None:
        if done not in wire.in_flight:
            return
        if isinstance(request, AlterPartitionRequest):
            self._on_alter_partition(wire, request, done)
            return
        node = self.nodes.get(wire.target)
        if node is None or frozenset({wire.source, wire.target}) in self.cut:
            done(Disconnected("unreachable"))
            return

        def reply(response: Message) -> None:
            copy = recode(response, version)
            self.trace(wire.target, wire.source, copy)
            self.post(partial(done, copy))

        node.handle(request, version, reply)

    def _wires_to(self, broker_id: int) -> list[Wire]:
        wires = [wire for node in self.nodes.values() for wire in node.wires]
        return [wire for wire in wires if wire.target == broker_id]

    def trace(self, source: int, target: int, message: Message) -> None:
        if self.tracing and isinstance(message, FetchRequest | FetchResponse):
            self.log(f"{source} => {target} {describe(message)}")

    # The controller

    def command(self, name: str, brokers: Iterable[int], controller_epoch: int = 1) -> None:
        """Tell these brokers the partition's state."""
        topic, _, index = name.rpartition("-")
        state = self.states[name]
        told = LeaderAndIsrPartitionState(
            partition_index=int(index),
            controller_epoch=controller_epoch,
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            isr=list(state.isr),
            partition_epoch=state.version,
            replicas=list(state.replicas),
            is_new=state.version == 0,
        )
        request = LeaderAndIsrRequest(
            controller_id=self.CONTROLLER,
            controller_epoch=controller_epoch,
            topic_states=[
                LeaderAndIsrTopicState(
                    topic_name=topic, topic_id=topic_id(topic), partition_states=[told]
                )
            ],
            live_leaders=[
                LeaderAndIsrLiveLeader(broker_id=b, host_name=f"b{b}", port=9092)
                for b in {state.leader} & self.alive
            ],
        )
        for broker in brokers:
            answers: list[LeaderAndIsrResponse] = []
            self.nodes[broker].replicas.state_changes.apply_leader_and_isr(
                request, lambda topic: self.configs[topic], answers.append
            )
            (response,) = answers
            codes = [response.error_code]
            codes += [p.error_code for t in response.topics for p in t.partition_errors]
            for code in filter(None, codes):
                self.log(f"{broker} answers LeaderAndIsr {name} {ErrorCode(code).name}")

    def stop_replica(self, name: str, broker: int, leader_epoch: int, *, delete: bool) -> None:
        topic, _, index = name.rpartition("-")
        stop = StopReplicaPartitionState(
            partition_index=int(index), leader_epoch=leader_epoch, delete_partition=delete
        )
        request = StopReplicaRequest(
            controller_epoch=1,
            topic_states=[StopReplicaTopicState(topic_name=topic, partition_states=[stop])],
        )

        def answered(response: StopReplicaResponse) -> None:
            for each in response.partition_errors:
                self.log(f"{broker} answers StopReplica {name} {ErrorCode(each.error_code).name}")

        self.nodes[broker].replicas.state_changes.stop_replicas(request, answered)
        if delete:
            self.pass_time(DELETION_MS)

    def _on_alter_partition(self, wire: Wire, request: AlterPartitionRequest, done: Done) -> None:
        for topic in request.topics:
            for each in topic.partitions:
                isr = [
                    f"{member.broker_id}@{member.broker_epoch}"
                    for member in each.new_isr_with_epochs
                ]
                name = f"{topic_name(topic.topic_id)}-{each.partition_index}"
                wanted = f"isr {','.join(isr)} epoch {each.leader_epoch} v{each.partition_epoch}"
                self.log(f"{wire.source} asks AlterPartition {name} {wanted}")
        self.held.append((request, done))
        if self.controller_answer != "hold":
            self.answer_held(self.controller_answer)

    def answer_held(self, how: str) -> None:
        """Answer what is held: "accept", "lose" (done, but the answer is lost) or an error."""
        held, self.held = self.held, []
        for request, done in held:
            response = self._decide(request, None if how in ("accept", "lose") else ErrorCode[how])
            if how == "lose":
                self.post(partial(done, Disconnected("lost")))
            else:
                self.post(partial(done, recode(response, 3)))

    def _decide(
        self, request: AlterPartitionRequest, refusal: ErrorCode | None
    ) -> AlterPartitionResponse:
        topics = []
        for topic in request.topics:
            answers = []
            for each in topic.partitions:
                state = self.states[f"{topic_name(topic.topic_id)}-{each.partition_index}"]
                isr = [member.broker_id for member in each.new_isr_with_epochs]
                error = refusal or ErrorCode.NONE
                if refusal is None and each.leader_epoch != state.leader_epoch:
                    error = ErrorCode.FENCED_LEADER_EPOCH
                elif refusal is None and isr != state.isr:
                    if each.partition_epoch != state.version:
                        error = ErrorCode.INVALID_UPDATE_VERSION
                    else:
                        state.isr, state.version = isr, state.version + 1
                answers.append(
                    AlterPartitionResponsePartitionData(
                        partition_index=each.partition_index,
                        error_code=error,
                        leader_id=state.leader,
                        leader_epoch=state.leader_epoch,
                        isr=list(state.isr),
                        partition_epoch=state.version,
                    )
                )
            topics.append(
                AlterPartitionResponseTopicData(topic_id=topic.topic_id, partitions=answers)
            )
        return AlterPartitionResponse(topics=topics)


def topic_id(topic: str) -> bytes:
    return topic.encode().ljust(16, b"\1")


def topic_name(id_: bytes) -> str:
    return id_.rstrip(b"\1").decode()


def recode(message: Message, version: int) -> Message:
    """The message as it arrives on the other side: its bytes, decoded."""
    flat = joined(encode_parts(message, version))
    return decode(type(message), version, memoryview(bytearray(flat)))


def describe(message: FetchRequest | FetchResponse) -> str:
    if isinstance(message, FetchRequest):
        named = [
            f"{topic_name(t.topic_id)}-{p.partition}@{p.fetch_offset}"
            f"(epoch {p.current_leader_epoch}, last {p.last_fetched_epoch})"
            for t in message.topics
            for p in t.partitions
        ]
        forgotten = [
            f"{topic_name(t.topic_id)}-{index}"
            for t in message.forgotten_topics_data
            for index in t.partitions
        ]
        session = f"session {'old' if message.session_id else 'none'}/{message.session_epoch}"
        forgets = f" forgets {' '.join(forgotten)}" if forgotten else ""
        return f"Fetch {session} {' '.join(named) or '-'}{forgets}"
    parts = []
    for topic in message.responses:
        for data in topic.partitions:
            name = f"{topic_name(topic.topic_id)}-{data.partition_index}"
            parts.append(f"{name} {describe_data(data)}")
    error = "" if not message.error_code else f" {ErrorCode(message.error_code).name}"
    return f"answer{error} {'; '.join(parts) or '-'}"


def describe_data(data: Any) -> str:
    if data.error_code:
        return ErrorCode(data.error_code).name
    if data.diverging_epoch.epoch >= 0:
        return (
            f"diverging epoch {data.diverging_epoch.epoch} ends {data.diverging_epoch.end_offset}"
        )
    size = "records" if data.records else "nothing"
    return f"{size} hw {data.high_watermark}"
