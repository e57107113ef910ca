"""What leaves a producer, and what brokers answer to it: for whom judges brokers, and clients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from logquake.seams.network import Disconnected
from logquake.seams.scheduler import Scheduler
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
)
from logquake.wire.records import BatchHeader, iterate_records, read_header
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition
from tests.parts import bytes_of
from tests.sim.history import Acked, Refused, Send
from tests.sim.programs.records import Left, Sequence31
from tests.sim.world import World

_MOST_BYTES = 1 << 20
_GAPS = (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID)
ENOUGH_GAPS = 2  # an answer may have been given before the leader was elected: it is asked twice


@dataclass(slots=True, eq=False)
class Sent:
    """One batch. ``absences`` counts the answers that it was not appended, among ``attempts``;
    ``gaps`` those that one before it is missing, though all were acked.
    """

    send: Send
    sequence: Sequence31
    attempts: int = 0
    absences: int = 0
    gaps: int = 0


class ProduceWatch:
    """``sent`` are the values of all batches that left, ``acked`` those that brokers acked."""

    def __init__(self, producer: str, world: World, scheduler: Scheduler) -> None:
        self.sent: set[int] = set()
        self.acked: list[Acked] = []
        self._producer = producer
        self._world = world
        self._scheduler = scheduler
        self._batches: dict[int, Sent] = {}
        self._acked_up_to: Counter[tuple[TopicPartition, int, int]] = Counter()

    def asked(self, broker: str, request: Message) -> None:
        if isinstance(request, ProduceRequest):
            for place, view in _batches(request):
                self._leaves(self._id_of(broker), place, view)

    def answered(self, broker: str, request: Message, answer: Message | Disconnected) -> None:
        if isinstance(request, ProduceRequest) and isinstance(answer, ProduceResponse):
            told = {
                TopicPartition(topic.name, each.index): each
                for topic in answer.responses
                for each in topic.partition_responses
            }
            for place, view in _batches(request):
                batch = self._batches[read_header(view).crc]
                self._learn(self._id_of(broker), batch, told[place])

    def _id_of(self, broker: str) -> int:
        machines = self._world.machines.values()
        return next(each.broker_id for each in machines if each.host.name == broker)

    def _leaves(self, broker: int, place: TopicPartition, view: memoryview) -> None:
        header = read_header(view)
        if header.crc not in self._batches:
            self._note(place, view, header)
        batch = self._batches[header.crc]
        batch.attempts += 1
        values = self._world.records.contents[header.crc]
        now_ms = self._scheduler.now_ms()
        self._world.tell(Left(self._producer, broker, batch.sequence, values, now_ms))

    def _note(self, place: TopicPartition, view: memoryview, header: BatchHeader) -> None:
        records = iterate_records(view, 0, header, _MOST_BYTES)
        self._world.records.contents[header.crc] = [record.value or b"" for record in records]
        self.sent.add(header.crc)
        self._batches[header.crc] = Sent(
            Send(place, header.crc, header.record_count),
            Sequence31(place, header.producer_id, header.producer_epoch, header.base_sequence),
        )

    def _learn(self, broker: int, batch: Sent, told: PartitionProduceResponse) -> None:
        error = ErrorCode(told.error_code)
        if error is ErrorCode.NONE:
            self._on_ack(broker, batch, told.base_offset)
        elif error is ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
            self._note_ack(batch.send.value)
        elif error is ErrorCode.NOT_ENOUGH_REPLICAS:
            batch.absences += 1
            if batch.absences == batch.attempts:
                self._world.tell(Refused(batch.send, broker, error.name, is_absent=True))
        elif error in _GAPS:
            self._world.records.doubted.add((self._producer, batch.sequence.place))
            if self._is_next(batch):
                self._on_gap(broker, batch, error)

    def _on_ack(self, broker: int, batch: Sent, offset: int) -> None:
        acked = Acked(batch.send, broker, offset)
        self.acked.append(acked)
        self._world.tell(acked)
        self._note_ack(batch.send.value)

    def _note_ack(self, value: int) -> None:
        batch = self._batches[value]
        self._acked_up_to[batch.sequence[:3]] = batch.sequence.first + batch.send.records

    def _is_next(self, batch: Sent) -> bool:
        """All before it, in its epoch, are acked."""
        return self._acked_up_to[batch.sequence[:3]] == batch.sequence.first

    def _on_gap(self, broker: int, batch: Sent, error: ErrorCode) -> None:
        """A deposed leader that does not know it may have missed the last batches; the leader may
        not.
        """
        leads = self._world.leads(broker, batch.send.partition)
        batch.gaps = batch.gaps + 1 if leads else 0
        if batch.gaps >= ENOUGH_GAPS:
            self._world.tell(Refused(batch.send, broker, error.name, is_absent=False))


def batches_of(request: ProduceRequest) -> Iterator[tuple[TopicPartition, BatchHeader]]:
    """The header of each, with its partition."""
    for place, view in _batches(request):
        yield place, read_header(view)


def _batches(request: ProduceRequest) -> Iterator[tuple[TopicPartition, memoryview]]:
    for topic in request.topic_data:
        for data in topic.partition_data:
            view = memoryview(bytes_of(data.records or b""))
            yield TopicPartition(topic.name, data.index), view
