"""Clients of the simulated cluster that speak to it themselves: a careless producer, a consumer.

They find a partition's leader as a client with fresh metadata would, by looking at what ZooKeeper
says, and now and then they ask a wrong broker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    ProduceRequest,
    TopicProduceData,
)
from logquake.wire.records import BatchHeader, Record, encode_batch, iterate_batches, read_header
from logquake.wire.schema import Message
from logquake.wire.sentinels import EARLIEST_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition
from tests.sim.connection import HostNetwork
from tests.sim.history import Polled, Skipped
from tests.sim.host import Host, HostScheduler
from tests.sim.network import Fabric
from tests.sim.world import World

ACKS_LEADER = 1
PRODUCE_VERSION = 11
FETCH_VERSION = 10  # by topic name, served by leaders alone
LIST_OFFSETS_VERSION = 5
PRODUCE_TIMEOUT_MS = 700
FETCH_WAIT_MS = 300
FETCH_BYTES = 1 << 20
WRONG_BROKER_SHARE = 0.1


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


class CarelessProducer(Client):
    """acks=1, without a producer id; tries each batch once and does not look back."""

    def __init__(
        self, name: str, partition: TopicPartition, fabric: Fabric, world: World, rng: Random
    ) -> None:
        super().__init__(name, partition, fabric, world, rng)
        self.sent: set[int] = set()
        self._records = 0

    def unique_records(self) -> list[Record]:
        records: list[Record] = []
        for offset in range(self.rng.randint(1, 3)):
            self._records += 1
            value = f"{self.name}-{self._records}".encode()
            records.append(Record(offset, self.scheduler.wall_ms(), None, value, ()))
        return records

    def start(self) -> None:
        if self.is_stopped:
            return
        batch = encode_batch(self.unique_records())
        self.sent.add(read_header(memoryview(batch)).crc)
        topic, index = self.partition
        data = TopicProduceData(
            name=topic, partition_data=[PartitionProduceData(index=index, records=batch)]
        )
        request = ProduceRequest(acks=ACKS_LEADER, timeout_ms=PRODUCE_TIMEOUT_MS, topic_data=[data])
        self.ask(self.likely_leader(), request, PRODUCE_VERSION, lambda _answer: None)
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
