"""A transaction's requests, in every version that is served, asked of the broker that coordinates
it. What a coordinator decides, tests/golden/transactions says; here is how it is asked and told.
"""

from __future__ import annotations

from typing import Any

import pytest

from logquake.node.metadata.coordinators import partition_for
from logquake.node.requests.add_offsets_to_txn import AddOffsetsToTxn
from logquake.node.requests.end_txn import EndTxn
from logquake.node.requests.init_producer_id import InitProducerId
from logquake.node.requests.list_transactions import ListTransactions
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import FindCoordinatorRequest
from logquake.wire.messages.transaction_admin import (
    DescribeTransactionsRequest,
    ListTransactionsRequest,
)
from logquake.wire.messages.transactions import (
    AddOffsetsToTxnRequest,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
    EndTxnRequest,
    InitProducerIdRequest,
)
from tests.unit.node.requests.lone_broker import ELSEWHERE, TOPIC, LoneBroker

OF_PRODUCERS = range(4)  # versions of AddPartitionsToTxn; the others are asked by brokers

Producer = tuple[int, int]


@pytest.fixture
def properties() -> dict[str, str]:
    return {
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.num.partitions": "3",
        "transaction.state.log.min.isr": "1",
        "offsets.topic.num.partitions": "7",
        "transaction.max.timeout.ms": "60000",
    }


@pytest.fixture
def coordinator(broker: LoneBroker) -> LoneBroker:
    """A broker that coordinates every transactional id."""
    broker.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=["t"]), 4)
    broker.settle()
    return broker


def begin(broker: LoneBroker, version: int = 5, **fields: Any) -> Any:
    asked: dict[str, Any] = {"transactional_id": "t", "transaction_timeout_ms": 60_000} | fields
    return broker.ask(InitProducerIdRequest(**asked), version)


def producer_of(broker: LoneBroker) -> Producer:
    begun = begin(broker)
    assert begun.error_code == ErrorCode.NONE
    return begun.producer_id, begun.producer_epoch


def topics(named: dict[str, list[int]]) -> list[AddPartitionsToTxnTopic]:
    return [AddPartitionsToTxnTopic(name=name, partitions=ids) for name, ids in named.items()]


def add(
    broker: LoneBroker, version: int, producer: Producer, named: dict[str, list[int]]
) -> dict[str, dict[int, int]]:
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="t",
        v3_and_below_producer_id=producer[0],
        v3_and_below_producer_epoch=producer[1],
        v3_and_below_topics=topics(named),
    )
    return errors_of(broker.ask(request, version).results_by_topic_v3_and_below)


def errors_of(results: Any) -> dict[str, dict[int, int]]:
    return {
        topic.name: {
            each.partition_index: each.partition_error_code for each in topic.results_by_partition
        }
        for topic in results
    }


def as_broker(
    transactional_id: str, producer: Producer, named: dict[str, list[int]], *, verify: bool
) -> AddPartitionsToTxnTransaction:
    return AddPartitionsToTxnTransaction(
        transactional_id=transactional_id,
        producer_id=producer[0],
        producer_epoch=producer[1],
        verify_only=verify,
        topics=topics(named),
    )


def end(broker: LoneBroker, version: int, producer: Producer, *, committed: bool = True) -> int:
    request = EndTxnRequest(
        transactional_id="t",
        producer_id=producer[0],
        producer_epoch=producer[1],
        committed=committed,
    )
    error: int = broker.ask(request, version).error_code
    return error


def add_offsets(broker: LoneBroker, version: int, producer: Producer, group: str = "g") -> int:
    request = AddOffsetsToTxnRequest(
        transactional_id="t",
        producer_id=producer[0],
        producer_epoch=producer[1],
        group_id=group,
    )
    error: int = broker.ask(request, version).error_code
    return error


def describe(broker: LoneBroker, transactional_id: str = "t") -> Any:
    request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    (described,) = broker.ask(request, 0).transaction_states
    return described


def partitions_of(broker: LoneBroker) -> dict[str, list[int]]:
    return {each.topic: each.partitions for each in describe(broker).topics}


@pytest.mark.parametrize("version", InitProducerId.versions)
def test_each_beginning_has_the_next_epoch(coordinator: LoneBroker, version: int) -> None:
    first, second = begin(coordinator, version), begin(coordinator, version)
    assert (first.error_code, first.producer_epoch) == (ErrorCode.NONE, 0)
    assert (second.error_code, second.producer_epoch) == (ErrorCode.NONE, 1)
    assert first.producer_id == second.producer_id >= 0


@pytest.mark.parametrize("version", InitProducerId.versions)
@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"transactional_id": ""}, ErrorCode.INVALID_REQUEST),
        ({"transaction_timeout_ms": 0}, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
        ({"transaction_timeout_ms": 60_001}, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
    ],
)
def test_who_may_not_begin(
    coordinator: LoneBroker, version: int, fields: dict[str, Any], error: ErrorCode
) -> None:
    begun = begin(coordinator, version, **fields)
    assert (begun.error_code, begun.producer_id, begun.producer_epoch) == (error, -1, -1)


@pytest.mark.parametrize("version", InitProducerId.versions)
def test_who_does_not_coordinate_says_so(broker: LoneBroker, version: int) -> None:
    begun = begin(broker, version)
    assert (begun.error_code, begun.producer_id) == (ErrorCode.NOT_COORDINATOR, -1)


def test_the_producer_before_is_told_in_words_it_knows(coordinator: LoneBroker) -> None:
    """INVALID_PRODUCER_EPOCH until KIP-588."""
    producer_id, _ = producer_of(coordinator)
    producer_of(coordinator)
    gone = (producer_id, 0)

    def told(since: int, version: int) -> ErrorCode:
        return ErrorCode.PRODUCER_FENCED if version >= since else ErrorCode.INVALID_PRODUCER_EPOCH

    for version in OF_PRODUCERS:
        assert add(coordinator, version, gone, {TOPIC: [0]})[TOPIC][0] == told(2, version)
    for version in AddOffsetsToTxn.versions:
        assert add_offsets(coordinator, version, gone) == told(2, version)
    for version in EndTxn.versions:
        assert end(coordinator, version, gone) == told(2, version)
    for version in (3, 4, 5):
        begun = begin(coordinator, version, producer_id=producer_id + 999, producer_epoch=0)
        assert begun.error_code == told(4, version)


@pytest.mark.parametrize("version", OF_PRODUCERS)
def test_partitions_become_part_of_a_transaction(coordinator: LoneBroker, version: int) -> None:
    producer = producer_of(coordinator)
    named = {TOPIC: [1, 0], ELSEWHERE: [0]}
    assert add(coordinator, version, producer, named) == {TOPIC: {1: 0, 0: 0}, ELSEWHERE: {0: 0}}
    described = describe(coordinator)
    assert (described.error_code, described.transaction_state) == (0, "Ongoing")
    assert (described.producer_id, described.producer_epoch) == producer
    assert described.transaction_timeout_ms == 60_000
    assert described.transaction_start_time_ms == coordinator.scheduler.wall_ms()
    assert partitions_of(coordinator) == {TOPIC: [0, 1], ELSEWHERE: [0]}


@pytest.mark.parametrize("version", OF_PRODUCERS)
def test_one_partition_that_is_missing_keeps_all_out(coordinator: LoneBroker, version: int) -> None:
    producer = producer_of(coordinator)
    errors = add(coordinator, version, producer, {TOPIC: [0, 9], "nowhere": [0]})
    unknown, not_tried = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.OPERATION_NOT_ATTEMPTED
    assert errors == {TOPIC: {0: not_tried, 9: unknown}, "nowhere": {0: unknown}}
    assert describe(coordinator).transaction_state == "Empty"


@pytest.mark.parametrize("version", [4, 5])
def test_brokers_ask_about_several_transactions(coordinator: LoneBroker, version: int) -> None:
    producer = producer_of(coordinator)
    add(coordinator, 3, producer, {TOPIC: [0]})
    request = AddPartitionsToTxnRequest(
        transactions=[
            as_broker("t", producer, {TOPIC: [0, 1]}, verify=True),
            as_broker("nobody", producer, {TOPIC: [0]}, verify=True),
            as_broker("t", producer, {TOPIC: [0]}, verify=False),
        ]
    )
    reply = coordinator.ask(request, version)
    told = {
        each.transactional_id: errors_of(each.topic_results)
        for each in reply.results_by_transaction
    }
    assert reply.error_code == ErrorCode.NONE
    assert told == {
        "t": {TOPIC: {0: ErrorCode.NONE, 1: ErrorCode.TRANSACTION_ABORTABLE}},
        "nobody": {TOPIC: {0: ErrorCode.INVALID_PRODUCER_ID_MAPPING}},
    }
    assert partitions_of(coordinator) == {TOPIC: [0]}


@pytest.mark.parametrize("version", [4, 5])
def test_brokers_add_partitions_too(coordinator: LoneBroker, version: int) -> None:
    producer = producer_of(coordinator)
    request = AddPartitionsToTxnRequest(
        transactions=[as_broker("t", producer, {TOPIC: [0, 1]}, verify=False)]
    )
    (result,) = coordinator.ask(request, version).results_by_transaction
    assert errors_of(result.topic_results) == {TOPIC: {0: 0, 1: 0}}
    assert partitions_of(coordinator) == {TOPIC: [0, 1]}


@pytest.mark.parametrize("version", [4, 5])
def test_a_question_about_nothing_is_answered(coordinator: LoneBroker, version: int) -> None:
    reply = coordinator.ask(AddPartitionsToTxnRequest(), version)
    assert (reply.error_code, reply.results_by_transaction) == (ErrorCode.NONE, [])


@pytest.mark.parametrize("version", AddOffsetsToTxn.versions)
def test_offsets_are_part_of_a_transaction(coordinator: LoneBroker, version: int) -> None:
    """By the number of partitions that __consumer_offsets will have, while it is not there."""
    producer = producer_of(coordinator)
    assert add_offsets(coordinator, version, producer, "a group") == ErrorCode.NONE
    assert partitions_of(coordinator) == {"__consumer_offsets": [partition_for("a group", 7)]}


@pytest.mark.parametrize("version", EndTxn.versions)
@pytest.mark.parametrize("committed", [True, False])
def test_a_decision_is_told_before_its_markers_are_written(
    coordinator: LoneBroker, version: int, committed: bool
) -> None:
    """Broker 2 never answers."""
    producer = producer_of(coordinator)
    add(coordinator, 3, producer, {ELSEWHERE: [0]})
    assert end(coordinator, version, producer, committed=committed) == ErrorCode.NONE
    state = "PrepareCommit" if committed else "PrepareAbort"
    assert describe(coordinator).transaction_state == state
    assert end(coordinator, version, producer, committed=committed) == (
        ErrorCode.CONCURRENT_TRANSACTIONS
    )
    assert begin(coordinator).error_code == ErrorCode.CONCURRENT_TRANSACTIONS


@pytest.mark.parametrize("version", EndTxn.versions)
def test_an_end_without_a_beginning(coordinator: LoneBroker, version: int) -> None:
    assert end(coordinator, version, producer_of(coordinator)) == ErrorCode.INVALID_TXN_STATE


def test_who_describes_what_nobody_began(coordinator: LoneBroker) -> None:
    nobody, nothing = describe(coordinator, "nobody"), describe(coordinator, "")
    assert (nobody.error_code, nobody.transaction_state, nobody.producer_id) == (
        ErrorCode.TRANSACTIONAL_ID_NOT_FOUND,
        "",
        0,
    )
    assert nothing.error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("version", ListTransactions.versions)
def test_transactions_are_listed(coordinator: LoneBroker, version: int) -> None:
    producer = producer_of(coordinator)

    def listed(**filters: Any) -> tuple[list[tuple[str, int, str]], list[str]]:
        reply = coordinator.ask(ListTransactionsRequest(**filters), version)
        states = reply.transaction_states
        return (
            [(each.transactional_id, each.producer_id, each.transaction_state) for each in states],
            reply.unknown_state_filters,
        )

    it = ("t", producer[0], "Empty")
    assert listed() == ([it], [])
    assert listed(state_filters=["Empty", "Odd", "Odd"]) == ([it], ["Odd"])
    assert listed(state_filters=["Ongoing"]) == ([], [])
    assert listed(producer_id_filters=[producer[0] + 1]) == ([], [])
    if version:
        add(coordinator, 3, producer, {TOPIC: [0]})
        assert listed(duration_filter=0) == ([], [])
        coordinator.scheduler.advance(1)
        assert listed(duration_filter=0) == ([("t", producer[0], "Ongoing")], [])
