"""A producer that does not wait for long, beside a cluster in memory that keeps it waiting."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import Any

import pytest

from logquake.chaos.history.reader import read_file
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.history.writer import HistoryWriter
from logquake.chaos.workloads.impatient import ImpatientProducer
from logquake.chaos.workloads.life import Life
from logquake.chaos.workloads.plan import Option, Plan
from logquake.chaos.workloads.transactions import ProducerOver
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import FindCoordinatorResponse
from logquake.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from logquake.wire.messages.transaction_admin import (
    DescribeTransactionsResponse,
    DescribeTransactionsResponseTransactionState,
)
from logquake.wire.messages.transactions import (
    AddPartitionsToTxnResponse,
    EndTxnResponse,
    InitProducerIdResponse,
)
from logquake.wire.records import iterate_batches
from tests.unit.client.cluster_in_memory import FakeClock, FakeNetwork, FakeTopology, all_versions
from tests.waiting import PATIENCE_S

A_MOMENT_S = 0.5
OFFSET = 812


class Brokers:
    """They say yes to everything; ``held`` is set once what they hold may go on."""

    def __init__(self) -> None:
        self.held = Event()
        self.epoch = -1
        self.network = FakeNetwork(FakeClock())
        self.network.handlers |= {
            ApiKey.API_VERSIONS: lambda *_: all_versions(),
            ApiKey.METADATA: FakeTopology().metadata,
            ApiKey.FIND_COORDINATOR: lambda *_: FindCoordinatorResponse(
                error_code=0, node_id=1, host="one", port=9092
            ),
            ApiKey.INIT_PRODUCER_ID: self._identify,
            ApiKey.ADD_PARTITIONS_TO_TXN: lambda *_: AddPartitionsToTxnResponse(),
            ApiKey.PRODUCE: lambda request, _: written(request),
            ApiKey.END_TXN: lambda *_: EndTxnResponse(error_code=0),
            ApiKey.DESCRIBE_TRANSACTIONS: lambda *_: DescribeTransactionsResponse(
                transaction_states=[state("CompleteCommit")]
            ),
        }

    def hold_first(self, key: ApiKey) -> None:
        """Its answer comes when ``held`` is set, the others' at once."""
        answer = self.network.handlers[key]

        def held(request: Any, address: Any) -> Any:
            if len(self.network.requests[key]) == 1:
                assert self.held.wait(PATIENCE_S)
            return answer(request, address)

        self.network.handlers[key] = held

    def asked(self, key: ApiKey) -> list[Any]:
        return self.network.requests[key]

    def _identify(self, *_: object) -> InitProducerIdResponse:
        self.epoch += 1
        return InitProducerIdResponse(error_code=0, producer_id=4, producer_epoch=self.epoch)


def state(name: str) -> DescribeTransactionsResponseTransactionState:
    return DescribeTransactionsResponseTransactionState(
        error_code=0,
        transactional_id="producer-1",
        transaction_state=name,
        transaction_timeout_ms=60_000,
        transaction_start_time_ms=-1,
        producer_id=4,
        producer_epoch=0,
        topics=[],
    )


def written(request: Any, error: ErrorCode = ErrorCode.NONE) -> ProduceResponse:
    (topic,) = request.topic_data
    (partition,) = topic.partition_data
    result = PartitionProduceResponse(
        index=partition.index, error_code=error, base_offset=OFFSET, error_message=None
    )
    return ProduceResponse(
        responses=[TopicProduceResponse(name=topic.name, partition_responses=[result])]
    )


@pytest.fixture
def brokers() -> Brokers:
    return Brokers()


def run(brokers: Brokers, folder: Path, **options: Option) -> list[Row]:
    plan = Plan.of("impatient", "boot:1", {"topic": "t", "patience_s": A_MOMENT_S, **options})
    network = brokers.network
    path = folder / "producer-1.jsonl"
    try:
        with HistoryWriter(path, "producer-1") as history:
            life = Life(plan, "producer-1", history)
            ImpatientProducer(life, network.dial, network.clock).run(Event())
    finally:
        brokers.held.set()
    return list(read_file(path))


def told(rows: list[Row]) -> list[tuple[str, Any]]:
    return [(row.what, row.why or row.after) for row in rows]


WRITTEN = [(Kind.SEND, None), (Kind.ACKED, None)]
BEGUN = (Kind.TRANSACTION_BEGUN, None)
COMMITTED = [(Kind.TRANSACTION_ENDING, "commit"), (Kind.TRANSACTION_ENDED, "committed")]
ABORTED = [(Kind.TRANSACTION_ENDING, "abort"), (Kind.TRANSACTION_ENDED, "aborted")]


def sequences(brokers: Brokers) -> list[tuple[int, int, int]]:
    """Partition, epoch and sequence of each batch that was sent."""
    return [
        (partition.index, header.producer_epoch, header.base_sequence)
        for request in brokers.asked(ApiKey.PRODUCE)
        for topic in request.topic_data
        for partition in topic.partition_data
        for _, header in iterate_batches(partition.records)
    ]


def test_a_transaction_is_a_record_in_every_partition(brokers: Brokers, tmp_path: Path) -> None:
    rows = run(brokers, tmp_path, count=2)
    assert told(rows) == [BEGUN, *WRITTEN, *WRITTEN, *COMMITTED] * 2
    assert [row.offset for row in rows if row.what == Kind.ACKED] == [OFFSET] * 4
    assert sequences(brokers) == [(0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 1)]
    assert {request.transactional_id for request in brokers.asked(ApiKey.PRODUCE)} == {"producer-1"}


def test_a_new_epoch_begins_its_sequences_anew(brokers: Brokers, tmp_path: Path) -> None:
    run(brokers, tmp_path, count=2, new_epochs=True)
    assert sequences(brokers) == [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]
    asked = [
        (one.producer_id, one.producer_epoch) for one in brokers.asked(ApiKey.INIT_PRODUCER_ID)
    ]
    assert asked == [(-1, -1), (4, 0), (4, 1)]


def test_what_is_refused_is_aborted_and_takes_no_sequence(brokers: Brokers, tmp_path: Path) -> None:
    def answer(request: Any, _: object) -> ProduceResponse:
        is_first = len(brokers.asked(ApiKey.PRODUCE)) == 1
        return written(request, ErrorCode.MESSAGE_TOO_LARGE if is_first else ErrorCode.NONE)

    brokers.network.handlers[ApiKey.PRODUCE] = answer
    refused = [(Kind.SEND, None), (Kind.REFUSED, "MESSAGE_TOO_LARGE")]
    assert told(run(brokers, tmp_path, count=2)) == [
        *(BEGUN, *refused, *ABORTED),
        *(BEGUN, *WRITTEN, *WRITTEN, *COMMITTED),
    ]
    assert sequences(brokers) == [(0, 0, 0), (0, 0, 0), (1, 0, 0)]


def test_an_end_without_an_answer_is_asked_for_again(brokers: Brokers, tmp_path: Path) -> None:
    brokers.hold_first(ApiKey.END_TXN)
    assert told(run(brokers, tmp_path, count=1)) == [BEGUN, *WRITTEN, *WRITTEN, *COMMITTED]
    assert [one.committed for one in brokers.asked(ApiKey.END_TXN)] == [True, True]


def test_a_batch_that_is_given_up_is_aborted_and_heard_of_later(
    brokers: Brokers, tmp_path: Path
) -> None:
    brokers.hold_first(ApiKey.PRODUCE)

    def end(*_: object) -> EndTxnResponse:
        brokers.held.set()
        return EndTxnResponse(error_code=0)

    brokers.network.handlers[ApiKey.END_TXN] = end
    with pytest.raises(ProducerOver, match="record 0 was given up"):
        run(brokers, tmp_path)
    rows = list(read_file(tmp_path / "producer-1.jsonl"))
    assert told(rows) == [BEGUN, (Kind.SEND, None), *ABORTED, (Kind.ACKED, None)]
    assert [one.committed for one in brokers.asked(ApiKey.END_TXN)] == [False]


def test_markers_are_waited_for(brokers: Brokers, tmp_path: Path) -> None:
    def describe(*_: object) -> DescribeTransactionsResponse:
        is_first = len(brokers.asked(ApiKey.DESCRIBE_TRANSACTIONS)) == 1
        states = [state("PrepareCommit" if is_first else "CompleteCommit")]
        return DescribeTransactionsResponse(transaction_states=states)

    brokers.network.handlers[ApiKey.DESCRIBE_TRANSACTIONS] = describe
    rows = run(brokers, tmp_path, count=1)
    assert told(rows)[-1] == COMMITTED[-1]
    assert len(brokers.asked(ApiKey.DESCRIBE_TRANSACTIONS)) == 2
