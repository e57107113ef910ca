"""A cluster as its controller sees it: ZooKeeper's model, brokers that answer as told, a clock.

Everything that the controllers do is written down in the order in which it happens: znodes
written, requests sent, answers given, and the reasons in the journal.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from logquake.controller.controller import Controller
from logquake.controller.settings import ControllerSettings
from logquake.seams.journal import Event
from logquake.seams.network import Channel, Disconnected, Endpoint
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from logquake.wire.messages.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)
from logquake.wire.messages.update_metadata import (
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from logquake.wire.schema import Message
from logquake.zk.model_session import ModelServer, ModelSession
from logquake.zk.operations import (
    Check,
    Create,
    Delete,
    Failed,
    Multi,
    Operation,
    Session,
    SessionListener,
    SetData,
    WatchEvent,
)
from logquake.zk.paths import path_of
from logquake.zk.retry import RetryingSession
from logquake.zk.znodes.brokers import BrokerRegistration, ListenerEndpoint
from logquake.zk.znodes.parents import create_parents
from tests.doubles.network import Done, InFlight
from tests.doubles.scheduler import ManualScheduler
from tests.golden.player import Chronicle

Action = Callable[[], None]


class FakeChannel:
    """A connection of one controller to one broker."""

    def __init__(self, world: World, sender: Node, target: int) -> None:
        self._world = world
        self._sender = sender
        self._target = target
        self._in_flight = InFlight()

    def send(self, request: Message, version: int, done: Done) -> None:
        self._world.log(f"{self._sender.broker_id} -> {self._target} {describe(request, version)}")
        settle = self._in_flight.add(done)
        answer = self._world.answer_of(self._target, request)
        if answer is not None:
            self._sender.post(lambda: settle(answer))

    def close(self) -> None:
        self._in_flight.lose("closed")


@dataclass
class Mishap:
    """What befalls the session just before, or just after, ZooKeeper does a write of ``path``, or
    a read if it is ``of_reads``.

    After it: the answer is lost.
    """

    path: str
    of_reads: bool = False
    before: Action = lambda: None
    after: Action = lambda: None


class FakeTether:
    """A connection that one controller holds to a broker, or one attempt to have it."""

    def __init__(
        self,
        world: World,
        sender: Node,
        target: int,
        held: Action,
        ended: Callable[[Disconnected], None],
    ) -> None:
        self._sender = sender
        self._held = held
        self._ended = ended
        self.target = target
        self._closed = False
        sender.post(lambda: self._attempt(world))

    def close(self) -> None:
        self._closed = True

    def end(self, why: Disconnected) -> None:
        self._sender.post(lambda: self._end(why))

    def _attempt(self, world: World) -> None:
        if self._closed:
            return
        if not world.listens(self.target):
            self._end(Disconnected("connection refused", refused=True))
        elif self.target in world.unreachable:
            self._end(Disconnected("no route to host"))
        else:
            world.tethers.append(self)
            self._held()

    def _end(self, why: Disconnected) -> None:
        if not self._closed:
            self._closed = True
            self._ended(why)


class RecordingSession:
    """Writes down what ZooKeeper did or refused to do."""

    def __init__(self, below: Session, log: Callable[[str], None], mishaps: list[Mishap]) -> None:
        self._below = below
        self._log = log
        self._mishaps = mishaps

    def submit(self, operation: Operation[Any], done: Callable[[Any], None]) -> None:
        def answered(outcome: Any) -> None:
            self._record(operation, outcome)
            done(outcome)

        mishap = self._due(operation)
        mishap.before()
        self._below.submit(operation, answered)
        mishap.after()

    def _due(self, operation: Operation[Any]) -> Mishap:
        if isinstance(operation, Multi):
            of_reads, paths = False, {write.path for write in operation.operations}
        else:
            of_reads, paths = True, {path_of(operation)}
        due = next((m for m in self._mishaps if m.of_reads is of_reads and m.path in paths), None)
        if due is None:
            return Mishap("")
        self._mishaps.remove(due)
        return due

    def close(self) -> None:
        self._below.close()

    def _record(self, operation: Operation[Any], outcome: Any) -> None:
        writes = operation.operations if isinstance(operation, Multi) else (operation,)
        if isinstance(outcome, Failed):
            if isinstance(operation, Multi):
                self._log(f"zk refused {outcome.error.value} {outcome.path}")
            return
        for write in writes:
            match write:
                case Create(path, data):
                    self._log(f"zk create {path} {(data or b'').decode()}".rstrip())
                case SetData(path, data):
                    self._log(f"zk set {path} {(data or b'').decode()}".rstrip())
                case Delete(path):
                    self._log(f"zk delete {path}")
                case _:
                    pass


class Node:
    """A broker: registered in ZooKeeper, with a candidate for the controller."""

    def __init__(self, world: World, broker_id: int, rack: str | None) -> None:
        self.world = world
        self.broker_id = broker_id
        self.rack = rack
        self.paused = False
        self.alive = True
        self.epoch = -1
        self.session_id = 0
        self.queue: deque[Action] = deque()
        self.model_session: ModelSession  # made by _open_session(), at once
        self.mishaps: list[Mishap] = []
        self.session = RetryingSession(self._open_session, self)
        self.controllers_seen: list[int] = []
        self.controller = Controller(
            broker_id,
            world.settings,
            session=self.session,
            network=self,
            scheduler=world.scheduler,
            journal=self,
            random=Random(broker_id),
            on_holder_changed=self._see_controller,
        )

    def _see_controller(self) -> None:
        self.controllers_seen.append(self.controller.active_controller_id)

    def post(self, action: Action) -> None:
        if self.alive:
            self.queue.append(action)

    def channel(self, endpoint: Endpoint, client_id: str) -> Channel:
        if client_id != str(self.broker_id):
            raise ValueError(client_id)
        return FakeChannel(self.world, self, endpoint.broker_id)

    def tether(
        self, endpoint: Endpoint, held: Action, ended: Callable[[Disconnected], None]
    ) -> FakeTether:
        return FakeTether(self.world, self, endpoint.broker_id, held, ended)

    def record(self, event: Event) -> int:
        if self.alive:
            self.world.log(f"{self.broker_id} {event.what} {event.subject}: {event.why}")
        return 0

    def register(self) -> None:
        endpoint = ListenerEndpoint(f"host{self.broker_id}", 9092)
        registration = BrokerRegistration(self.broker_id, (endpoint,), 0, self.rack)
        path = BrokerRegistration.path(self.broker_id)

        def made(outcome: str | Failed) -> None:
            if isinstance(outcome, Failed):
                raise ValueError(outcome)
            data = self.world.server.model.data(path)
            self.epoch = data.stat.czxid if data else -1
            self.controller.on_session_established(self.session_id)

        create = Create(path, registration.encode(), ephemeral=True)
        if self.world.server.model.data(path) is None:
            self.session.submit(create, made)
        else:  # of an earlier life, whose session has not ended yet
            again = Multi((Delete(path), create))
            self.session.submit(
                again, lambda outcome: made("" if isinstance(outcome, tuple) else outcome)
            )

    def befall(self, path: str, *, of_reads: bool = False, **mishap: Action) -> None:
        self.mishaps.append(Mishap(path, of_reads, **mishap))

    def on_connected(self, session_id: int) -> None:
        if session_id != self.session_id:
            self.session_id = session_id
            self.register()

    def on_disconnected(self) -> None: ...

    def on_expired(self) -> None:
        self.controller.on_session_expired()

    def on_watch(self, event: WatchEvent) -> None:
        self.controller.on_watch(event)

    def _open_session(self, listener: SessionListener) -> Session:
        self.model_session = self.world.server.connect(listener, self.post)
        return RecordingSession(self.model_session, self.world.log, self.mishaps)


class World(Chronicle):
    def __init__(self, settings: ControllerSettings) -> None:
        super().__init__()
        self.settings = settings
        self.server = ModelServer()
        self.scheduler = ManualScheduler()
        self.nodes: dict[int, Node] = {}
        self.silent: set[int] = set()
        self.unreachable: set[int] = set()
        self.deaf: set[int] = set()
        self.tethers: list[FakeTether] = []
        self.refusals: dict[tuple[int, str], ErrorCode] = {}
        self.most_lines_at_once = 0
        """What happened while the loop of a broker had no turn."""
        self._admin = self.server.model.open_session()
        for create in create_parents():
            self.write(create)

    def write(self, operation: Create | SetData | Delete | Check) -> None:
        """As somebody else than the controllers."""
        outcome, fired = self.server.model.apply(self._admin, operation)
        if isinstance(outcome, Failed):
            raise ValueError(outcome)
        self.server.deliver(fired)

    def written(self, path: str) -> bytes:
        """What a znode holds."""
        data = self.server.model.data(path)
        if data is None or data.data is None:
            raise ValueError(f"nothing at {path}")
        return data.data

    def start(self, broker_id: int, rack: str | None = None) -> None:
        self.nodes[broker_id] = Node(self, broker_id, rack)
        self.settle()

    def kill(self, broker_id: int) -> None:
        """It dies, and its session ends at once."""
        self.server.expire(self.crash(broker_id))

    def crash(self, broker_id: int) -> int:
        """It dies, and its session, which is answered, lives on."""
        node = self.nodes.pop(broker_id)
        node.alive = False
        node.controller.close()  # of a process that dies nothing is left: no timer either
        self.reset_tethers(broker_id)
        node.model_session.abandon()
        return node.model_session.session_id

    def close_listener(self, broker_id: int) -> None:
        """The process lives, and refuses connections for a while."""
        self.deaf.add(broker_id)
        self.reset_tethers(broker_id)

    def listens(self, broker_id: int) -> bool:
        return broker_id in self.nodes and broker_id not in self.deaf

    def reset_tethers(self, target: int) -> None:
        broken = [each for each in self.tethers if each.target == target]
        self.tethers = [each for each in self.tethers if each.target != target]
        for tether in broken:
            tether.end(Disconnected("reset by the peer"))

    def active(self) -> Controller:
        """The controller in office that knows of itself; the latest epoch if two believe it."""
        candidates = [node.controller for node in self.nodes.values() if node.controller.is_active]
        return max(candidates, key=lambda controller: controller.epoch)

    def settle(self) -> None:
        """Run until nobody has anything to do now, one action a broker in turn."""
        self._empty_queues()
        while (action := self.scheduler.take_due()) is not None:
            self._act(action)
            self._empty_queues()

    def _empty_queues(self) -> None:
        while any(node.queue and not node.paused for node in self.nodes.values()):
            for node in list(self.nodes.values()):
                if node.queue and not node.paused:
                    self._act(node.queue.popleft())
        for node in self.nodes.values():
            assert list(node.controller.misplaced()) == []

    def _act(self, action: Action) -> None:
        already = len(self._lines)
        action()
        self.most_lines_at_once = max(self.most_lines_at_once, len(self._lines) - already)

    def pass_time(self, duration_ms: int) -> None:
        end_ms = self.scheduler.now_ms() + duration_ms
        while (action := self.scheduler.take_due(end_ms)) is not None:
            self._act(action)
            self.settle()
        self.scheduler.stand_at(end_ms)

    def answer_of(self, broker_id: int, request: Message) -> Message | Disconnected | None:
        if broker_id in self.silent:
            return None
        if not self.listens(broker_id) or broker_id in self.unreachable:
            return Disconnected("connection refused")
        name = type(request).__name__.removesuffix("Request")
        return _answer(request, self.refusals.get((broker_id, name), ErrorCode.NONE))


def _answer(request: Message, code: ErrorCode) -> Message:
    """Codes of partitions are given for each of them, others for the request."""
    of_request = code if code is ErrorCode.STALE_CONTROLLER_EPOCH else ErrorCode.NONE
    match request:
        case LeaderAndIsrRequest():
            return LeaderAndIsrResponse(
                error_code=of_request,
                topics=[
                    LeaderAndIsrTopicError(
                        topic_id=topic.topic_id,
                        partition_errors=[
                            LeaderAndIsrPartitionError(
                                partition_index=each.partition_index, error_code=code
                            )
                            for each in topic.partition_states
                        ],
                    )
                    for topic in request.topic_states
                ],
            )
        case StopReplicaRequest():
            return StopReplicaResponse(
                error_code=of_request,
                partition_errors=[
                    StopReplicaPartitionError(
                        topic_name=topic.topic_name,
                        partition_index=each.partition_index,
                        error_code=code,
                    )
                    for topic in request.topic_states
                    for each in topic.partition_states
                ],
            )
    return UpdateMetadataResponse(error_code=of_request)


def describe(request: Message, version: int) -> str:
    match request:
        case LeaderAndIsrRequest():
            leaders = [leader.broker_id for leader in request.live_leaders]
            parts = [
                f"{topic.topic_name}-{each.partition_index} leader {each.leader} "
                f"epoch {each.leader_epoch} isr {each.isr} v{each.partition_epoch}"
                + (" new" if each.is_new else "")
                + (" recovering" if each.leader_recovery_state else "")
                for topic in request.topic_states
                for each in topic.partition_states
            ]
            what = f"LeaderAndIsr v{version} leaders {leaders}"
        case UpdateMetadataRequest():
            parts = [
                f"{topic.topic_name}-{each.partition_index} leader {each.leader} "
                f"epoch {each.leader_epoch} isr {each.isr} v{each.zk_version}"
                + (f" offline {each.offline_replicas}" if each.offline_replicas else "")
                for topic in request.topic_states
                for each in topic.partition_states
            ]
            what = f"UpdateMetadata v{version} brokers {[one.id for one in request.live_brokers]}"
        case StopReplicaRequest():
            parts = [
                f"{topic.topic_name}-{each.partition_index} epoch {each.leader_epoch}"
                + (" delete" if each.delete_partition else "")
                for topic in request.topic_states
                for each in topic.partition_states
            ]
            what = f"StopReplica v{version}"
        case _:
            raise ValueError(request)
    epochs = f"[{request.controller_epoch}/{request.broker_epoch}]"
    return "; ".join([f"{what} {epochs}", *parts])
