"""What passes between a transactional producer and the brokers, told to the ledger."""

from __future__ import annotations

from collections.abc import Iterator

from logquake.node.coordinators.transactions.metadata import Producer
from logquake.seams.network import Disconnected
from logquake.seams.scheduler import Scheduler
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
)
from logquake.wire.messages.transactions import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from logquake.wire.schema import Message
from tests.sim.programs.produce_watch import ProduceWatch, Sent, batches_of
from tests.sim.transactions.ledger import Attempt, Ledger
from tests.sim.world import World

_FOR_GOOD = {
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.PRODUCER_FENCED,
    ErrorCode.INVALID_TXN_STATE,
}
_ABOUT_TRANSACTIONS = AddPartitionsToTxnRequest | EndTxnRequest


class TransactionWatch(ProduceWatch):
    """Of one life. ``producer`` is who it is, ``attempt`` its transaction.

    ``was_lost``: its coordinator did not answer about a transaction. ``was_refused_for_good``: a
    broker has said what neither another attempt nor an abort mends.
    """

    def __init__(
        self, transactional_id: str, world: World, scheduler: Scheduler, ledger: Ledger
    ) -> None:
        super().__init__(transactional_id, world, scheduler)
        self.producer: Producer | None = None
        self.attempt: Attempt | None = None
        self.was_lost = False
        self.was_refused_for_good = False
        self._transactional_id = transactional_id
        self._contents = world.records.contents
        self._by_sequence = world.records.by_sequence
        self._ledger = ledger
        self._was_latest: dict[int, bool] = {}  # of each batch, when it left last
        self._ending: tuple[EndTxnRequest, bool] | None = None  # and whether it was the latest
        self._asked_after: Producer | None = None

    def asked(self, broker: str, request: Message) -> None:
        super().asked(broker, request)
        match request:
            case InitProducerIdRequest():
                self._asked_after = self._ledger.latest(self._transactional_id)
            case ProduceRequest():
                self._send(request)
            case EndTxnRequest():
                self._ask_to_end(request)

    def answered(self, broker: str, request: Message, answer: Message | Disconnected) -> None:
        if isinstance(answer, Disconnected):
            self.was_lost |= isinstance(request, _ABOUT_TRANSACTIONS)
            return
        codes = {ErrorCode(code) for code in _codes(answer)}
        self.was_refused_for_good |= bool(codes & _FOR_GOOD)
        super().answered(broker, request, answer)
        match answer:
            case InitProducerIdResponse(error_code=0):
                self._begin_epoch(Producer(answer.producer_id, answer.producer_epoch))
            case EndTxnResponse(error_code=0):
                self._on_end(request)

    def _begin_epoch(self, producer: Producer) -> None:
        self.producer = producer
        self._ledger.begin_epoch(self._transactional_id, producer, self._asked_after)

    def _send(self, request: ProduceRequest) -> None:
        for place, header in batches_of(request):
            who = Producer(header.producer_id, header.producer_epoch)
            self._was_latest[header.crc] = self._ledger.is_latest(self._transactional_id, who)
            if self.attempt is not None:
                self._ledger.send(self.attempt, header.crc, place, self._contents[header.crc])

    def _note_ack(self, value: int) -> None:
        super()._note_ack(value)
        self._ledger.ack(value, self._contents[value], was_latest=self._was_latest[value])

    def _learn(self, broker: int, batch: Sent, told: PartitionProduceResponse) -> None:
        """What was refused for good, and was sent once, leaves its sequence to another batch."""
        super()._learn(broker, batch, told)
        error = ErrorCode(told.error_code)
        if error and not error.retriable and batch.attempts == 1:
            self._by_sequence.pop(batch.sequence, None)

    def _ask_to_end(self, request: EndTxnRequest) -> None:
        who = Producer(request.producer_id, request.producer_epoch)
        self._ending = request, self._ledger.is_latest(self._transactional_id, who)
        if self.attempt is not None:
            self._ledger.ask(self.attempt, committed=request.committed)

    def _on_end(self, request: Message) -> None:
        if self._ending is not None and self.attempt is not None:
            ending, was_latest = self._ending
            if ending is request and not was_latest:
                self._ledger.ended_by_fenced(self.attempt)


def _codes(answer: Message) -> Iterator[int]:
    match answer:
        case InitProducerIdResponse() | EndTxnResponse():
            yield answer.error_code
        case AddPartitionsToTxnResponse():
            for topic in answer.results_by_topic_v3_and_below:
                for one in topic.results_by_partition:
                    yield one.partition_error_code
        case ProduceResponse():
            for produced in answer.responses:
                for told in produced.partition_responses:
                    yield told.error_code
