"""Whatever becomes of requests: what a transaction wrote is there once and in order if it was
committed, and not if it was aborted; nothing is written to a partition before it is part of it.

The coordinator is a model of what Kafka's does with one transactional id (TransactionCoordinator).
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import pytest

from logquake.client.consumer.offsets import ConsumerGroupMetadata, OffsetAndMetadata
from logquake.client.errors import BrokerError, DeliveryError, TransactionFailedError
from logquake.client.producer.delivery import Delivery, RecordMetadata
from logquake.client.producer.idempotence.identity import Identity
from logquake.client.producer.transactions.operation import Operation
from logquake.client.producer.transactions.transactions import Transactions
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.header import RequestHeader
from logquake.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from logquake.wire.messages.transaction_commit import (
    TxnOffsetCommitRequest,
)
from logquake.wire.messages.transactions import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from logquake.wire.records import BatchHeader
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.transaction_answers import offsets_committed, partitions_added
from tests.unit.client.producer.test_whatever_happens import (
    LONG_MS,
    PARTITIONS,
    SHORT_MS,
    Run,
)

TRANSACTIONS = 12
READ = TopicPartition("in", 0)
GROUP = ConsumerGroupMetadata("readers", 3, "m")
REFUSALS = [
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
]


class CoordinatorModel:
    """``ended``: the last transaction was committed, or was not; None before the first."""

    def __init__(self) -> None:
        self.present = Identity(9, -1)
        self.is_open = False
        self.ended: bool | None = None
        self.places: set[int] = set()
        self.has_group = False
        self.waiting_offset: int | None = None
        self.committed_offset: int | None = None
        self.pending: defaultdict[int, list[bytes | None]] = defaultdict(list)
        self.visible: defaultdict[int, list[bytes | None]] = defaultdict(list)

    def init(self, told: Identity) -> InitProducerIdResponse:
        """Who tells the epoch before the present one has not heard of that (KIP-360)."""
        if told.producer_id < 0 or told == self.present:
            if self.is_open:
                self.complete(commits=False)
            self.present = self.present._replace(epoch=self.present.epoch + 1)
            self.ended = None
        elif told.epoch != self.present.epoch - 1:
            return InitProducerIdResponse(error_code=ErrorCode.PRODUCER_FENCED)
        return InitProducerIdResponse(
            producer_id=self.present.producer_id, producer_epoch=self.present.epoch
        )

    def begin(self) -> None:
        self.is_open = True

    def end(self, *, commits: bool) -> ErrorCode:
        if self.is_open:
            self.complete(commits=commits)
        elif self.ended is not commits:
            return ErrorCode.INVALID_TXN_STATE
        return ErrorCode.NONE

    def complete(self, *, commits: bool) -> None:
        if commits:
            for place, values in self.pending.items():
                self.visible[place] += values
            if self.waiting_offset is not None:
                self.committed_offset = self.waiting_offset
        self.pending.clear()
        self.waiting_offset = None
        self.places.clear()
        self.is_open = self.has_group = False
        self.ended = commits


class Written(NamedTuple):
    """One transaction, as the program knows it."""

    sent: list[tuple[int, bytes, Delivery]]
    offset: int | None
    is_committed: bool


class TransactionalRun(Run):
    def __init__(self, seed: int, delivery_timeout_ms: int) -> None:
        self.model = CoordinatorModel()
        self.transactions = Transactions("mine", 60_000)
        self.done: list[Written] = []
        super().__init__(seed, delivery_timeout_ms)

    def new_numbering(self) -> Transactions:
        return self.transactions

    # The program

    def play(self) -> None:
        self._await(self.transactions.init())
        for number in range(TRANSACTIONS):
            self.is_calm = number == TRANSACTIONS - 1
            self.done.append(self._one(number))

    def _one(self, number: int) -> Written:
        before = len(self.sent)
        self.transactions.begin()
        offset = None
        try:
            offset = self._write_some(number)
            is_committed = self._random.random() < 0.7
            self._await(self.transactions.commit() if is_committed else self.transactions.abort())
        except TransactionFailedError:
            is_committed = False
            self._await(self.transactions.abort())
        return Written(self.sent[before:], offset, is_committed)

    def _write_some(self, number: int) -> int | None:
        for index in range(self._random.randrange(8)):
            self.transactions.check_may_send()
            self._append(b"%d" % (number * 10 + index))
            self.transactions.add(TopicPartition("t", self.sent[-1][0]))
            for _ in range(self._random.randrange(4)):
                self._something_happens()
        if self._random.random() < 0.5:
            return None
        self._await(self.transactions.send_offsets({READ: OffsetAndMetadata(number)}, GROUP))
        return number

    def _await(self, operation: Operation) -> None:
        self._wait_until(lambda: operation.is_done)
        operation.is_heard = True
        if operation.error is not None:
            raise operation.error

    # The brokers

    def _takes_its_time(self, header: RequestHeader) -> bool:
        return header.api_key not in (ApiKey.API_VERSIONS, ApiKey.METADATA)

    def _write_to(
        self, partition: int, header: BatchHeader, values: list[bytes | None]
    ) -> tuple[ErrorCode, int]:
        before = len(self.logs[partition].values)
        code, offset = super()._write_to(partition, header, values)
        if len(self.logs[partition].values) > before:
            assert partition in self.model.places, f"{values} outside of a transaction"
            self.model.pending[partition] += values
        return code, offset

    def _apply(self, request: Message, *, is_refused: bool) -> Message:
        code = self._random.choice(REFUSALS) if is_refused else ErrorCode.NONE
        match request:
            case FindCoordinatorRequest():
                key = request.coordinator_keys[0]
                return FindCoordinatorResponse(coordinators=[Coordinator(key=key, node_id=1)])
            case InitProducerIdRequest():
                if is_refused:
                    return InitProducerIdResponse(error_code=code)
                return self.model.init(Identity(request.producer_id, request.producer_epoch))
            case AddPartitionsToTxnRequest():
                return self._add(request, code)
            case AddOffsetsToTxnRequest():
                if not is_refused:
                    self.model.begin()
                    self.model.has_group = True
                return AddOffsetsToTxnResponse(error_code=code)
            case TxnOffsetCommitRequest():
                return self._commit_offsets(request, code)
            case EndTxnRequest():
                ended = code if is_refused else self.model.end(commits=request.committed)
                return EndTxnResponse(error_code=ended)
        return super()._apply(request, is_refused=is_refused)

    def _add(self, request: AddPartitionsToTxnRequest, code: ErrorCode) -> Message:
        topic = request.v3_and_below_topics[0]
        if code is ErrorCode.NONE:
            self.model.begin()
            self.model.places.update(topic.partitions)
        return partitions_added(request, code)

    def _commit_offsets(self, request: TxnOffsetCommitRequest, code: ErrorCode) -> Message:
        if code is ErrorCode.CONCURRENT_TRANSACTIONS:
            code = ErrorCode.REQUEST_TIMED_OUT  # a group's coordinator knows no transactions
        if code is ErrorCode.NONE:
            assert self.model.has_group, "offsets outside of a transaction"
            self.model.waiting_offset = request.topics[0].partitions[0].committed_offset
        return offsets_committed(request, code)


def check(run: TransactionalRun) -> None:
    committed = [each for each in run.done if each.is_committed]
    for partition in range(PARTITIONS):
        expected = [
            value for each in committed for place, value, _ in each.sent if place == partition
        ]
        assert run.model.visible[partition] == expected
    offsets = [each.offset for each in committed if each.offset is not None]
    assert run.model.committed_offset == (offsets[-1] if offsets else None)
    for each in committed:
        for place, value, delivery in each.sent:
            assert isinstance(delivery.outcome, RecordMetadata)
            assert run.logs[place].values[delivery.outcome.offset] == value
    assert not run.model.is_open


@pytest.mark.parametrize("seed", range(40))
def test_with_time_enough(seed: int) -> None:
    run = TransactionalRun(seed, LONG_MS)
    run.play()
    check(run)
    for each in run.done:
        why = _failures(each)
        assert not why or any("INVALID_RECORD" in one or "aborted" in one for one in why), why


@pytest.mark.parametrize("seed", range(40))
def test_with_batches_that_are_given_up(seed: int) -> None:
    run = TransactionalRun(seed, SHORT_MS)
    run.play()
    check(run)


def test_transactions_are_committed_aborted_and_fail() -> None:
    """Of the runs above."""
    runs = [TransactionalRun(seed, SHORT_MS) for seed in range(40)]
    for run in runs:
        run.play()
    done = [each for run in runs for each in run.done]
    failed = [each for each in done if any(_has_failed(one) for *_, one in each.sent)]
    assert sum(each.is_committed for each in done) > len(done) / 4
    assert sum(each.offset is not None for each in done) > len(done) / 5
    assert len(failed) > len(done) / 25
    assert any(run.model.present.epoch > 1 for run in runs)


def _failures(of: Written) -> list[str]:
    """What is behind a record at fault that may be written fails with it."""
    outcomes = [delivery.outcome for *_, delivery in of.sent]
    return [str(one.cause) for one in outcomes if isinstance(one, DeliveryError)]


def _has_failed(delivery: Delivery) -> bool:
    return isinstance(getattr(delivery.outcome, "cause", None), BrokerError)
