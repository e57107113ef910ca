"""Producers with a transactional id, and readers of what they write.

A producer has lives: one that dies, or is mistaken for dead, has a successor with the same
transactional id, and may go on beside it until it is told that it was replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from logquake.node.coordinators.transactions.metadata import Producer
from logquake.node.metadata.coordinators import partition_for
from logquake.node.metadata.topic_names import TRANSACTION_STATE_TOPIC
from logquake.seams.network import Disconnected
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import AbortedTransaction
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from logquake.wire.messages.transactions import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from logquake.wire.records import (
    BatchFlag,
    BatchHeader,
    ControlType,
    Record,
    encode_batch,
    read_end_marker,
    read_header,
)
from logquake.wire.schema import Message
from logquake.wire.sentinels import ACKS_ALL
from logquake.wire.topic_partition import TopicPartition
from tests.sim.clients import PRODUCE_TIMEOUT_MS, Client, Consumer
from tests.sim.network import Fabric
from tests.sim.transactions.ledger import Attempt, Ledger
from tests.sim.world import World

STATE_PARTITIONS = 2
TIMEOUT_MS = 1_200
COMMIT_SHARE = 0.7
DEATH_SHARE = 0.04  # at each step
SUCCESSION_SHARE = 0.04  # of a life that goes on
_INIT_VERSION, _ADD_VERSION, _END_VERSION, _PRODUCE_VERSION = 4, 3, 4, 11

# What another attempt may mend. All else means that the life is over: it was replaced.
_PASSING = frozenset(
    {
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.OPERATION_NOT_ATTEMPTED,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.KAFKA_STORAGE_ERROR,
    }
)

Errors = Callable[[Message], int]


class TransactionalProducer(Client):
    """Writes to several partitions; ``sent`` are the values of its batches."""

    def __init__(
        self,
        name: str,
        partitions: Sequence[TopicPartition],
        fabric: Fabric,
        world: World,
        rng: Random,
        ledger: Ledger,
    ) -> None:
        index = partition_for(name, STATE_PARTITIONS)
        super().__init__(name, TopicPartition(TRANSACTION_STATE_TOPIC, index), fabric, world, rng)
        self.partitions = list(partitions)
        self.ledger = ledger
        self.sent: set[int] = set()
        self.records = 0
        self._lives: list[_Life] = []

    @property
    def is_finished(self) -> bool:
        return self.is_stopped and not self._lives

    def start(self) -> None:
        """Another life, beside those that are not over."""
        life = _Life(self)
        self._lives.append(life)
        life.begin()

    def die(self) -> None:
        """Amid whatever it does, and nobody follows."""
        self.is_stopped = True
        for life in list(self._lives):
            life.end()

    def lose(self, life: _Life) -> None:
        """It is over; another follows unless all are to end."""
        self._lives.remove(life)
        if not self.is_stopped and not self._lives:
            self.later(20, 300, self.start)

    def unique_record(self) -> Record:
        self.records += 1
        value = f"{self.name}-{self.records}".encode()
        return Record(0, self.scheduler.wall_ms(), None, value)


class _Life:
    """One process, as far as its transactions go: one request in flight, repeated until an answer
    says more than that it may be asked again.

    After a transaction of which a request had no answer it begins a new epoch: that request may
    come late, and would be of its next transaction, which an EndTxn would decide (KAFKA-17754; the
    second part of KIP-890 mends it).
    """

    def __init__(self, owner: TransactionalProducer) -> None:
        self._owner = owner
        self._producer = Producer(-1, -1)
        self._sequences: dict[TopicPartition, int] = {}
        self._is_over = False
        self._was_lost = False

    def begin(self) -> None:
        owner = self._owner
        request = InitProducerIdRequest(
            transactional_id=owner.name, transaction_timeout_ms=TIMEOUT_MS
        )
        self._ask(request, _INIT_VERSION, _error, self.begin, self._on_producer)

    def _on_producer(self, answer: Message) -> None:
        assert isinstance(answer, InitProducerIdResponse)
        self._producer = Producer(answer.producer_id, answer.producer_epoch)
        self._sequences = {}
        self._owner.ledger.begin_epoch(self._owner.name, self._producer)
        self._next()

    def _next(self) -> None:
        owner = self._owner
        if owner.is_stopped:
            self.end()
            return
        if owner.rng.random() < SUCCESSION_SHARE:
            owner.later(0, 200, owner.start)
        owner.later(1, 150, self._begin_transaction)

    def _begin_transaction(self) -> None:
        owner = self._owner
        if self._is_over or owner.is_stopped:
            self.end()
            return
        attempt = owner.ledger.begin(owner.name, self._producer)
        wanted = owner.rng.sample(owner.partitions, owner.rng.randint(1, len(owner.partitions)))
        self._add(attempt, sorted(wanted))

    def _add(self, attempt: Attempt, partitions: list[TopicPartition]) -> None:
        topics: dict[str, list[int]] = {}
        for topic, index in partitions:
            topics.setdefault(topic, []).append(index)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._owner.name,
            v3_and_below_producer_id=self._producer.id,
            v3_and_below_producer_epoch=self._producer.epoch,
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name=name, partitions=ids) for name, ids in topics.items()
            ],
        )
        again = partial(self._add, attempt, partitions)
        writes = [each for each in partitions for _ in range(self._owner.rng.randint(1, 2))]
        self._ask(
            request,
            _ADD_VERSION,
            _first_error,
            again,
            lambda _answer: self._write_next(attempt, writes),
        )

    def _write_next(self, attempt: Attempt, writes: list[TopicPartition]) -> None:
        if not writes:
            self._end(attempt, committed=self._owner.rng.random() < COMMIT_SHARE)
            return
        partition, *rest = writes
        sequence = self._sequences.get(partition, 0)
        self._sequences[partition] = sequence + 1
        batch = encode_batch(
            [self._owner.unique_record()],
            producer_id=self._producer.id,
            producer_epoch=self._producer.epoch,
            base_sequence=sequence,
            flags=BatchFlag.TRANSACTIONAL,
        )
        value = read_header(memoryview(batch)).crc
        self._owner.sent.add(value)
        self._owner.ledger.send(attempt, value, partition)
        self._produce(attempt, partition, batch, value, rest)

    def _produce(
        self,
        attempt: Attempt,
        partition: TopicPartition,
        batch: bytearray,
        value: int,
        rest: list[TopicPartition],
    ) -> None:
        owner = self._owner
        was_latest = owner.ledger.is_latest(owner.name, self._producer)
        data = PartitionProduceData(index=partition.partition, records=batch)
        request = ProduceRequest(
            transactional_id=owner.name,
            acks=ACKS_ALL,
            timeout_ms=PRODUCE_TIMEOUT_MS,
            topic_data=[TopicProduceData(name=partition.topic, partition_data=[data])],
        )

        def acked(_answer: Message) -> None:
            owner.ledger.ack(attempt, value, was_latest=was_latest)
            self._write_next(attempt, rest)

        again = partial(self._produce, attempt, partition, batch, value, rest)
        self._ask(request, _PRODUCE_VERSION, _produce_error, again, acked, partition)

    def _end(self, attempt: Attempt, *, committed: bool) -> None:
        attempt.wants = committed
        request = EndTxnRequest(
            transactional_id=self._owner.name,
            producer_id=self._producer.id,
            producer_epoch=self._producer.epoch,
            committed=committed,
        )

        def ended(_answer: Message) -> None:
            self._owner.ledger.tell(attempt, committed)
            lost, self._was_lost = self._was_lost, False
            if lost:
                self.begin()
            else:
                self._next()

        again = partial(self._end, attempt, committed=committed)
        self._ask(request, _END_VERSION, _error, again, ended)

    def _ask(
        self,
        request: Message,
        version: int,
        error_of: Errors,
        again: Callable[[], None],
        done: Callable[[Message], None],
        partition: TopicPartition | None = None,
    ) -> None:
        owner = self._owner
        if self._is_over:
            return
        if owner.rng.random() < DEATH_SHARE and not owner.is_stopped:
            self.end()
            return

        def answered(answer: Message | Disconnected) -> None:
            if self._is_over:
                return
            if isinstance(answer, Disconnected):
                self._was_lost = True
                error = ErrorCode.NETWORK_EXCEPTION
            else:
                error = ErrorCode(error_of(answer))
            if error in _PASSING:
                owner.later(20, 120, again)
            elif error is not ErrorCode.NONE:
                self.end()
            else:
                assert not isinstance(answer, Disconnected)
                done(answer)

        owner.ask(owner.likely_leader(partition), request, version, answered)

    def end(self) -> None:
        """Nothing more is asked, and no answer heard."""
        if not self._is_over:
            self._is_over = True
            self._owner.lose(self)


def _error(answer: Message) -> int:
    assert isinstance(answer, InitProducerIdResponse | EndTxnResponse)
    return answer.error_code


def _first_error(answer: Message) -> int:
    assert isinstance(answer, AddPartitionsToTxnResponse)
    errors = [
        each.partition_error_code
        for topic in answer.results_by_topic_v3_and_below
        for each in topic.results_by_partition
    ]
    return next((error for error in errors if error), ErrorCode.NONE)


def _produce_error(answer: Message) -> int:
    assert isinstance(answer, ProduceResponse)
    return answer.responses[0].partition_responses[0].error_code


class LedgerReader(Consumer):
    """Reads everything, markers too, and tells the ledger."""

    def __init__(
        self,
        name: str,
        partition: TopicPartition,
        fabric: Fabric,
        world: World,
        rng: Random,
        ledger: Ledger,
    ) -> None:
        super().__init__(name, partition, fabric, world, rng)
        self._ledger = ledger

    def _take(self, records: memoryview, position: int, header: BatchHeader) -> None:
        if header.is_control:
            marker = read_end_marker(records, position, header)
            assert marker is not None
            producer = Producer(header.producer_id, header.producer_epoch)
            commits = marker.control_type is ControlType.COMMIT
            self._ledger.see_marker(self.partition, producer, commits=commits)
        elif header.is_transactional:
            self._ledger.see(self.partition, header.producer_id, header.crc)


class CommittedReader(Consumer):
    """read_committed, as consumers do it: the answer says from where on whose records are aborted,
    until their marker. ``values`` are the batches that count.
    """

    isolation_level = 1

    def __init__(
        self, name: str, partition: TopicPartition, fabric: Fabric, world: World, rng: Random
    ) -> None:
        super().__init__(name, partition, fabric, world, rng)
        self.values: list[int] = []
        self._aborted: list[AbortedTransaction] = []
        self._skipped_producers: set[int] = set()

    def _note_aborted(self, aborted: Sequence[AbortedTransaction]) -> None:
        self._aborted = sorted(aborted, key=lambda each: each.first_offset)
        self._skipped_producers = set()

    def _take(self, _records: memoryview, _position: int, header: BatchHeader) -> None:
        while self._aborted and self._aborted[0].first_offset < header.next_offset:
            self._skipped_producers.add(self._aborted.pop(0).producer_id)
        if header.is_control:
            self._skipped_producers.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in self._skipped_producers):
            self.values.append(header.crc)
