"""Clients of the simulated cluster: idempotent producers, a careless one, a consumer.

They find a partition's leader as a client with fresh metadata would, by looking at what ZooKeeper
says, and now and then they ask a wrong broker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

from logquake.seams.network import Channel, Disconnected
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import (
    AbortedTransaction,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from logquake.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from logquake.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from logquake.wire.messages.transactions import InitProducerIdRequest, InitProducerIdResponse
from logquake.wire.records import BatchHeader, Record, encode_batch, iterate_batches, read_header
from logquake.wire.schema import Message
from logquake.wire.sentinels import ACKS_ALL, EARLIEST_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition
from tests.sim.connection import HostNetwork
from tests.sim.history import Acked, Polled, Refused, Send, Skipped
from tests.sim.host import Host, HostScheduler
from tests.sim.network import Fabric
from tests.sim.world import World

ACKS_LEADER = 1
PRODUCE_VERSION = 11
FETCH_VERSION = 10  # by topic name, served by leaders alone
LIST_OFFSETS_VERSION = 5
INIT_PRODUCER_ID_VERSION = 4
PRODUCE_TIMEOUT_MS = 700
FETCH_WAIT_MS = 300
FETCH_BYTES = 1 << 20
WRONG_BROKER_SHARE = 0.1
MOST_IN_FLIGHT = 5  # as many batches as a leader remembers
_GAPS = (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID)


class Client:
    """What all of them share: a process, channels to the brokers, an idea of who leads."""

    def __init__(
        self, name: str, partition: TopicPartition, fabric: Fabric, world: World, rng: Random
    ) -> None:
        host = Host(name, fabric.clock)
        network = HostNetwork(fabric, host)
        self.name = name
        self.partition = partition
        self.world = world
        self.rng = rng
        self.scheduler = HostScheduler(host)
        self.is_stopped = False
        self._channels: dict[int, Channel] = {
            broker: network.channel(machine.endpoint, name)
            for broker, machine in world.machines.items()
        }

    def start(self) -> None:
        """Begin; in what is repeated, the next round."""
        raise NotImplementedError

    def later(self, shortest_ms: int, longest_ms: int, action: Callable[[], None]) -> None:
        self.scheduler.call_later(self.rng.randint(shortest_ms, longest_ms), action)

    def ask(
        self,
        broker: int,
        request: Message,
        version: int,
        done: Callable[[Message | Disconnected], None],
    ) -> None:
        self._channels[broker].send(request, version, done)

    def any_broker(self) -> int:
        return self.rng.choice(sorted(self._channels))

    def likely_leader(self, partition: TopicPartition | None = None) -> int:
        """Of the client's own partition, or of another one."""
        history = self.world.decisions.partitions.get(partition or self.partition)
        state = history.state if history else None
        if state is None or state.leader < 0 or self.rng.random() < WRONG_BROKER_SHARE:
            return self.any_broker()
        return state.leader

    def leader_epoch_of(self, broker: int) -> int | None:
        """Of the client's own partition, if ZooKeeper says that the broker leads it."""
        history = self.world.decisions.partitions.get(self.partition)
        state = history.state if history else None
        return state.leader_epoch if state is not None and state.leader == broker else None


class Producer(Client):
    """Sends one batch after another to one partition; a subclass says what an outcome means."""

    acks = ACKS_ALL

    def __init__(
        self, name: str, partition: TopicPartition, fabric: Fabric, world: World, rng: Random
    ) -> None:
        super().__init__(name, partition, fabric, world, rng)
        self.acked: list[Acked] = []
        self.sent: set[int] = set()
        self._records = 0

    def unique_records(self) -> list[Record]:
        records: list[Record] = []
        for offset in range(self.rng.randint(1, 3)):
            self._records += 1
            value = f"{self.name}-{self._records}".encode()
            records.append(Record(offset, self.scheduler.wall_ms(), None, value, ()))
        return records

    def send_bytes(self, batch: bytearray, done: Callable[[int, object], None]) -> None:
        """done is told the broker, and its PartitionProduceResponse or a Disconnected."""
        broker = self.likely_leader()
        topic, index = self.partition
        data = TopicProduceData(
            name=topic, partition_data=[PartitionProduceData(index=index, records=batch)]
        )
        request = ProduceRequest(acks=self.acks, timeout_ms=PRODUCE_TIMEOUT_MS, topic_data=[data])

        def answered(response: Message | Disconnected) -> None:
            if isinstance(response, ProduceResponse):
                done(broker, response.responses[0].partition_responses[0])
            else:
                done(broker, response)

        self.ask(broker, request, PRODUCE_VERSION, answered)

    def sending(self, batch: bytearray, records: int) -> Send:
        send = Send(self.partition, read_header(memoryview(batch)).crc, records)
        self.sent.add(send.value)
        return send


@dataclass(slots=True, eq=False)
class _Open:
    """The producer's batch of that ``number`` was sent, and is not acked.

    ``gaps`` counts the leader's answers that one before it is missing.
    """

    number: int
    records: list[Record]
    batch: bytearray
    send: Send
    gaps: int = 0

    @property
    def is_missed(self) -> bool:
        """A leader's answer may have been given before it was elected: it is asked twice."""
        return self.gaps > 1


class IdempotentProducer(Producer):
    """acks=all; repeats a batch until it is told that it is there, and never skips one.

    Several are in flight, save the first: as in Kafka, a leader that does not know a producer takes
    any sequence for its first. None is sent that is five after one that is open, whichever brokers
    they went to: a leader would not remember it. (A Java producer counts by connection instead, and
    a change of the leader may let a batch be forgotten that the one before never answered.)

    What follows a batch that was refused is refused as well. So once one was, nothing new is sent
    until all are answered, and what is open is then sent again, in order (librdkafka's rule:
    rd_kafka_idemp_drain_toppar). If a leader goes on to say that one is missing before the oldest,
    what is open is sent in the producer's next epoch, with sequences from 0 on (as by Java's
    TransactionManager.bumpIdempotentProducerEpoch): the only case in which records may be doubled.
    """

    def __init__(
        self, name: str, partition: TopicPartition, fabric: Fabric, world: World, rng: Random
    ) -> None:
        super().__init__(name, partition, fabric, world, rng)
        self._most_in_flight = rng.randint(1, MOST_IN_FLIGHT)
        self._open: list[_Open] = []  # oldest first
        self._in_flight = 0
        self._draining = False
        self._batches = 0
        self._sequence = 0

    @property
    def is_finished(self) -> bool:
        """Nothing is open, and nothing new will be sent."""
        return self.is_stopped and not self._open

    def finish(self) -> None:
        """Send nothing new."""
        self.is_stopped = True

    def start(self) -> None:
        if self.is_stopped:
            return
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
        self.ask(self.any_broker(), request, INIT_PRODUCER_ID_VERSION, self._on_producer_id)

    def _on_producer_id(self, response: Message | Disconnected) -> None:
        if isinstance(response, InitProducerIdResponse) and not response.error_code:
            self._producer_id = response.producer_id
            self._producer_epoch = response.producer_epoch
            self._send_next()
        else:
            self.later(30, 100, self.start)

    def _send_next(self) -> None:
        if self.is_stopped:
            return
        if self._may_send():
            self._batches += 1
            self._open.append(self._encoded(self._batches, self.unique_records()))
            self._attempt(self._open[-1])
        self.later(1, 120, self._send_next)

    def _may_send(self) -> bool:
        if self._draining or not self._open:
            return not self._draining
        return bool(self.acked) and self._batches - self._open[0].number + 1 < self._most_in_flight

    def _encoded(self, number: int, records: list[Record]) -> _Open:
        batch = encode_batch(
            records,
            producer_id=self._producer_id,
            producer_epoch=self._producer_epoch,
            base_sequence=self._sequence,
        )
        self._sequence += len(records)
        return _Open(number, records, batch, self.sending(batch, len(records)))

    def _attempt(self, one: _Open) -> None:
        self._in_flight += 1
        self.send_bytes(one.batch, partial(self._on_outcome, one))

    def _on_outcome(self, one: _Open, broker: int, outcome: object) -> None:
        self._in_flight -= 1
        if isinstance(outcome, PartitionProduceResponse):
            error = ErrorCode(outcome.error_code)
        else:
            error = ErrorCode.NETWORK_EXCEPTION
        if error == ErrorCode.NONE:
            self._on_ack(one, broker, outcome)
        elif error in _GAPS:
            self._on_gap(one, broker, error)
        else:
            self._on_refusal(one, broker, error)
        if self._draining and not self._in_flight:
            self.later(20, 120, self._send_again)

    def _on_ack(self, one: _Open, broker: int, outcome: object) -> None:
        assert isinstance(outcome, PartitionProduceResponse)
        self._open.remove(one)
        acked = Acked(one.send, broker, outcome.base_offset)
        self.acked.append(acked)
        self.world.tell(acked)

    def _on_gap(self, one: _Open, broker: int, error: ErrorCode) -> None:
        """Only of the oldest does it mean anything. A deposed leader that does not know it may have
        missed our last batches; the leader may not.
        """
        self._draining = True
        if one is self._open[0]:
            one.gaps = one.gaps + 1 if self.world.leads(broker, self.partition) else 0
            if one.is_missed:
                self.world.tell(Refused(one.send, broker, error.name, is_absent=False))

    def _on_refusal(self, one: _Open, broker: int, error: ErrorCode) -> None:
        self._draining = True
        if error != ErrorCode.NOT_ENOUGH_REPLICAS:
            one.send.may_be_there = True
        elif not one.send.may_be_there:
            self.world.tell(Refused(one.send, broker, error.name, is_absent=True))

    def _send_again(self) -> None:
        self._draining = False
        if self._open and self._open[0].is_missed:
            self._begin_epoch()
        for one in tuple(self._open):
            self._attempt(one)

    def _begin_epoch(self) -> None:
        self._producer_epoch += 1
        self._sequence = 0
        self._open = [self._encoded(one.number, one.records) for one in self._open]


class CarelessProducer(Producer):
    """acks=1, without a producer id; tries each batch once and does not look back."""

    acks = ACKS_LEADER

    def start(self) -> None:
        if self.is_stopped:
            return
        records = self.unique_records()
        batch = encode_batch(records)
        self.sending(batch, len(records))
        self.send_bytes(batch, lambda _broker, _outcome: None)
        self.later(5, 200, self.start)


class Consumer(Client):
    """Reads a partition from its start on. ``position`` is the next offset that it wants."""

    isolation_level = 0  # read_uncommitted

    def __init__(
        self, name: str, partition: TopicPartition, fabric: Fabric, world: World, rng: Random
    ) -> None:
        super().__init__(name, partition, fabric, world, rng)
        self.position = 0
        self.polled: list[Polled] = []
        self.skipped: list[Skipped] = []

    def start(self) -> None:
        if self.is_stopped:
            return
        broker = self.likely_leader()
        topic, index = self.partition
        wanted = FetchPartition(
            partition=index, fetch_offset=self.position, partition_max_bytes=FETCH_BYTES
        )
        request = FetchRequest(
            max_wait_ms=FETCH_WAIT_MS,
            min_bytes=1,
            max_bytes=FETCH_BYTES,
            isolation_level=self.isolation_level,
            topics=[FetchTopic(topic=topic, partitions=[wanted])],
        )
        self.ask(broker, request, FETCH_VERSION, lambda answer: self._on_answer(broker, answer))

    def _on_answer(self, broker: int, response: Message | Disconnected) -> None:
        if isinstance(response, FetchResponse) and response.responses:
            data = response.responses[0].partitions[0]
            if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                self._ask_start(broker)
                return
            if not data.error_code and isinstance(data.records, memoryview):
                self._note_aborted(data.aborted_transactions or [])
                self._read(broker, data.records)
        self.later(20, 160, self.start)

    def _ask_start(self, broker: int) -> None:
        """Its records may be deleted: as auto.offset.reset=earliest."""
        topic, index = self.partition
        asked = ListOffsetsPartition(partition_index=index, timestamp=EARLIEST_TIMESTAMP)
        request = ListOffsetsRequest(
            replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=[asked])]
        )
        self.ask(broker, request, LIST_OFFSETS_VERSION, self._on_start)

    def _on_start(self, response: Message | Disconnected) -> None:
        if isinstance(response, ListOffsetsResponse):
            found = response.topics[0].partitions[0]
            if not found.error_code and found.offset > self.position:
                self.skipped.append(Skipped(self.partition, self.position, found.offset))
                self.position = found.offset
        self.later(20, 160, self.start)

    def _read(self, broker: int, records: memoryview) -> None:
        for position, header in iterate_batches(records):
            if header.next_offset <= self.position:
                continue
            self._take(records, position, header)
            polled = Polled(
                self.partition, broker, header.base_offset, header.next_offset, header.crc
            )
            self.position = header.next_offset
            self.polled.append(polled)
            self.world.tell(polled)

    def _note_aborted(self, aborted: Sequence[AbortedTransaction]) -> None:
        """Whose records of what follows do not count; for a subclass that cares."""

    def _take(self, records: memoryview, position: int, header: BatchHeader) -> None:
        """A batch that was not read before; for a subclass that looks into it."""
