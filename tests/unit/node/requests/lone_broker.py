"""One whole broker in memory, alone: it elects itself, and leads the topics that tests make.

What is asked and what is answered travels as bytes in the version under test, so that a field
that a version cannot carry shows itself. Time moves only to let an answer come.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, TypeVar, cast

import pytest

from logquake.node.broker import Broker
from logquake.node.composition.parts import Parts
from logquake.node.outside import Outside
from logquake.node.replication.values import ProduceEntry, ProduceResult
from logquake.node.requests.api_table import ApiTable
from logquake.node.requests.request import Request
from logquake.node.settings import BrokerSettings
from logquake.seams.network import Channel, Disconnected, Endpoint
from logquake.wire.api import ApiKey, response_type
from logquake.wire.header import RequestHeader, decode_response, encode_response
from logquake.wire.listeners import PLAINTEXT, ListenerName
from logquake.wire.messages.metadata import MetadataRequest
from logquake.wire.messages.topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from logquake.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from logquake.wire.principals import ANONYMOUS, KafkaPrincipal
from logquake.wire.schema import Message, decode, encode
from logquake.zk.model_session import ModelServer
from logquake.zk.operations import Exists, Stat
from tests.doubles.journal import MemoryJournal
from tests.doubles.memory_disk import MemoryDisk
from tests.doubles.network import Done, ScriptedNetwork
from tests.doubles.scheduler import ManualScheduler
from tests.doubles.workers import ScheduledWorkers
from tests.parts import joined

BROKER_ID = 1
TOPIC = "orders"
ELSEWHERE = "elsewhere"  # a topic whose one partition broker 2 leads
PATIENCE_MS = 40_000

PROPERTIES = {
    "broker.id": str(BROKER_ID),
    "listeners": "PLAINTEXT://127.0.0.1:9092",
    "zookeeper.connect": "127.0.0.1:2181",
    "log.dirs": "/logs",
    "auto.leader.rebalance.enable": "false",
}

M = TypeVar("M", bound=Message)
Step = Callable[[], None]


class NoReplyError(Exception):
    """Nothing was answered: the connection was closed, with a reason, or time ran out."""


class SelfNetwork(ScriptedNetwork):
    """The one broker's way to itself; others answer when the test does, in ``sent``."""

    def __init__(self) -> None:
        super().__init__()
        self.here: LoneBroker | None = None

    def channel(self, endpoint: Endpoint, client_id: str) -> Channel:
        if endpoint.broker_id == BROKER_ID:
            return SelfChannel(self, client_id)
        return super().channel(endpoint, client_id)


class SelfChannel:
    def __init__(self, network: SelfNetwork, client_id: str) -> None:
        self._network = network
        self._client_id = client_id

    def send(self, request: Message, version: int, done: Done) -> None:
        here = self._network.here
        if here is not None:
            here.put(lambda: here.serve(request, version, done, self._client_id))

    def close(self) -> None:
        """Nothing is connected."""


ADDRESSES = {"localhost": "127.0.0.1"}


class LoneBroker:
    """``ask`` is the client's view; ``leave_unanswered`` only delivers."""

    def __init__(
        self, scheduler: ManualScheduler, journal: MemoryJournal, properties: Mapping[str, str]
    ) -> None:
        self.scheduler, self.journal = scheduler, journal
        self.steps: deque[Step] = deque()
        self._looked_ns = 0
        self.network = SelfNetwork()
        self.network.here = self
        self.zookeeper = server = ModelServer()
        self.broker = Broker(
            BrokerSettings.from_properties({**PROPERTIES, **properties}),
            Outside(
                scheduler=scheduler,
                network=self.network,
                disk=MemoryDisk(),
                workers=ScheduledWorkers(scheduler, delay_ms=0),
                journal=journal,
                open_session=lambda listener: server.connect(listener, self.steps.append),
                random=Random(1),
                thread_time_ns=self._thread_time_ns,
                address_of=ADDRESSES.get,
            ),
            on_serving=self._on_serving,
            on_ready=lambda: None,
            on_refused=pytest.fail,
        )

    def _on_serving(self, api: ApiTable) -> None:
        self.api = api

    def _thread_time_ns(self) -> int:
        """Every other look is at the end of a request, which took 30 ms."""
        self._looked_ns += 30_000_000
        return self._looked_ns

    @property
    def served(self) -> Mapping[int, range]:
        return self.api.served

    def put(self, step: Step) -> None:
        self.steps.append(step)

    def settle(self) -> None:
        """Until nothing happens any more without time passing."""
        while self.steps:
            self.step()

    def step(self) -> None:
        self.steps.popleft()()
        self.broker.end_of_pass()

    def start(self) -> None:
        self.broker.start()
        self.settle()
        self.scheduler.advance(1000)
        self.settle()

    def serve(
        self,
        message: Message,
        version: int,
        done: Callable[[Message | Disconnected], None],
        client_id: str = "test",
        listener: ListenerName = PLAINTEXT,
        principal: KafkaPrincipal = ANONYMOUS,
        size: int = 0,
        throttle: Callable[[int], None] = lambda _ms: None,
    ) -> None:
        """Handle a request that comes as bytes; the answer goes back as bytes, at its time."""
        schema = type(message).__schema__
        key = cast(int, schema.key)
        frame = memoryview(bytearray(encode(message, version)))
        body = decode(type(message), version, frame)
        reply_type = response_type(ApiKey(key))
        assert reply_type is not None

        def reply(response: Message | None) -> None:
            if response is None:
                done(Disconnected("no response is due"))
                return
            answer = joined(encode_response(7, response, version))
            done(decode_response(reply_type, version, memoryview(answer)[4:])[1])

        def close(reason: str) -> None:
            done(Disconnected(reason))

        header = RequestHeader(key, version, 7, client_id)
        now_ms = self.scheduler.now_ms()
        self.api.handle(
            Request(
                header,
                body,
                now_ms,
                "127.0.0.1",
                listener,
                reply,
                close,
                principal=principal,
                size=size,
                throttle=throttle,
            )
        )
        self.broker.end_of_pass()

    def outcomes(
        self, message: Message, version: int, **serving: Any
    ) -> list[Message | Disconnected]:
        """Everything that came back, after as much time as any request may take."""
        outcomes: list[Message | Disconnected] = []
        self.serve(message, version, outcomes.append, **serving)
        self.settle()
        waited_ms = 0
        while not outcomes and waited_ms < PATIENCE_MS:
            self.scheduler.advance(500)
            waited_ms += 500
            self.put(lambda: None)
            self.settle()
        return outcomes

    def ask(self, message: Message, version: int, **serving: Any) -> Any:
        """The one answer, by the listener and of the principal given. Raises NoReplyError."""
        (outcome,) = self.outcomes(message, version, **serving) or (
            Disconnected("no answer in time"),
        )
        if isinstance(outcome, Disconnected):
            raise NoReplyError(outcome.reason)
        return outcome

    @property
    def parts(self) -> Parts:
        assert self.broker._parts is not None
        return self.broker._parts

    # What most tests begin with

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        config: Mapping[str, str] | None = None,
        assignment: Sequence[int] = (),
    ) -> bytes:
        """Its id. ``assignment`` is where its one partition lies; unknown brokers may be named."""
        configs = [CreatableTopicConfig(name=key, value=v) for key, v in (config or {}).items()]
        placed = [CreatableReplicaAssignment(partition_index=0, broker_ids=list(assignment))]
        topic = CreatableTopic(
            name=name,
            num_partitions=-1 if assignment else partitions,
            replication_factor=-1 if assignment else 1,
            assignments=placed if assignment else [],
            configs=configs,
        )
        made: CreateTopicsResponse = self.ask(
            CreateTopicsRequest(topics=[topic], timeout_ms=10_000), 7
        )
        if made.topics[0].error_code:
            raise RuntimeError(f"{name} was not made: {made}")
        return made.topics[0].topic_id

    def epoch(self) -> int:
        """The broker epoch: the transaction that made its registration."""
        session_id = next(iter(self.zookeeper.model.sessions))
        found, _ = self.zookeeper.model.apply(session_id, Exists(f"/brokers/ids/{BROKER_ID}"))
        return cast(Stat, found).czxid

    def topic_id(self, name: str) -> bytes:
        metadata = self.ask(MetadataRequest(topics=None), 12)
        return cast(bytes, next(t.topic_id for t in metadata.topics if t.name == name))

    def append(self, records: bytes | bytearray, *, internal: bool = False) -> None:
        """To orders-0, past the Produce handler."""
        entry = ProduceEntry(TOPIC, 0, memoryview(bytearray(records)))
        results: list[ProduceResult] = []
        self.parts.replicas.appends.add([entry], 1, 0, results.extend, internal=internal)
        self.broker.end_of_pass()
        assert [result.error for result in results] == [0]

    def learn_of_other_broker(self, leads: str = ELSEWHERE) -> None:
        """Broker 2 is alive, elsewhere, and leads the one partition of a topic."""
        brokers = [
            UpdateMetadataBroker(
                id=broker_id,
                endpoints=[
                    UpdateMetadataEndpoint(
                        host="127.0.0.1", port=port, listener="PLAINTEXT", security_protocol=0
                    )
                ],
                rack=rack,
            )
            for broker_id, port, rack in ((BROKER_ID, 9092, None), (2, 9093, "east"))
        ]
        state = UpdateMetadataPartitionState(
            partition_index=0,
            controller_epoch=1,
            leader=2,
            leader_epoch=5,
            isr=[2],
            replicas=[2],
        )
        elsewhere = UpdateMetadataTopicState(
            topic_name=leads, topic_id=bytes(15) + b"\x02", partition_states=[state]
        )
        self.ask(
            UpdateMetadataRequest(
                controller_id=BROKER_ID,
                controller_epoch=1,
                broker_epoch=-1,
                topic_states=[elsewhere],
                live_brokers=brokers,
            ),
            8,
        )
