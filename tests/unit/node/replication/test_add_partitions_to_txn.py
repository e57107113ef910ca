"""Transaction coordinators that are asked about partitions, and what they may answer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.coordinators import CoordinatorTopic
from logquake.node.replication.transactions.add_partitions_to_txn import (
    AddPartitionsToTxnManager,
    Refusals,
    TransactionalProducer,
)
from logquake.seams.network import Disconnected
from logquake.wire.errors import ErrorCode
from logquake.wire.listeners import PLAINTEXT
from logquake.wire.messages.transactions import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)
from logquake.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.network import ScriptedNetwork

LOG = CoordinatorTopic("__transaction_state", 1)
ORDERS = (TopicPartition("orders", 0), TopicPartition("orders", 1))


class Asker:
    """Broker 2 leads the one partition of __transaction_state; ``told`` is what became of it."""

    def __init__(self) -> None:
        self.network = ScriptedNetwork()
        self.metadata = MetadataCache(PLAINTEXT)
        self.manager = AddPartitionsToTxnManager(self.network, self.metadata, LOG, "1")
        self.told: list[tuple[str, Refusals]] = []

    def learn(self, *, leader: int = 2, port: int = 9092) -> None:
        endpoint = UpdateMetadataEndpoint(host="h", port=port, listener="PLAINTEXT")
        state = UpdateMetadataPartitionState(partition_index=0, leader=leader)
        self.metadata.update(
            UpdateMetadataRequest(
                topic_states=[
                    UpdateMetadataTopicState(topic_name=LOG.name, partition_states=[state])
                ],
                live_brokers=[UpdateMetadataBroker(id=2, endpoints=[endpoint])],
            )
        )

    def verify(
        self,
        name: str = "t",
        *,
        epoch: int = 0,
        partitions: Sequence[TopicPartition] = ORDERS,
        knows_abortable: bool = True,
    ) -> None:
        producer = TransactionalProducer(name, 7, epoch, knows_abortable)
        self.manager.verify(producer, partitions, lambda told: self.told.append((name, told)))

    @property
    def asked(self) -> list[list[str]]:
        """The transactional ids of each request that was sent."""
        return [
            [t.transactional_id for t in sent.request.transactions] for sent in self.network.sent
        ]

    def answer(self, request: int = -1, error: int = 0, **codes: int) -> None:
        """codes: what each transactional id's partitions are answered with."""
        results = [
            AddPartitionsToTxnResult(
                transactional_id=name,
                topic_results=[
                    AddPartitionsToTxnTopicResult(
                        name="orders",
                        results_by_partition=[
                            AddPartitionsToTxnPartitionResult(
                                partition_index=index, partition_error_code=code
                            )
                            for index in (0, 1)
                        ],
                    )
                ],
            )
            for name, code in codes.items()
        ]
        answer = AddPartitionsToTxnResponse(error_code=error, results_by_transaction=results)
        self.network.sent[request].done(answer)


@pytest.fixture
def asker() -> Asker:
    asker = Asker()
    asker.learn()
    return asker


def every(error: ErrorCode) -> Refusals:
    return dict.fromkeys(ORDERS, error)


def test_the_coordinator_is_asked_to_verify_only(asker: Asker) -> None:
    asker.verify()
    (sent,) = asker.network.sent
    assert (sent.endpoint.broker_id, sent.version) == (2, 5)
    assert isinstance(sent.request, AddPartitionsToTxnRequest)
    (transaction,) = sent.request.transactions
    assert (transaction.producer_id, transaction.producer_epoch) == (7, 0)
    assert transaction.verify_only
    assert [(topic.name, topic.partitions) for topic in transaction.topics] == [("orders", [0, 1])]
    asker.answer(t=0)
    assert asker.told == [("t", {})]


def test_what_comes_while_one_request_is_in_flight_shares_the_next(asker: Asker) -> None:
    for name in "abc":
        asker.verify(name)
    assert asker.asked == [["a"]]
    asker.answer(a=0)
    assert asker.asked == [["a"], ["b", "c"]]
    asker.answer(b=ErrorCode.CONCURRENT_TRANSACTIONS, c=0)
    assert asker.told == [("a", {}), ("b", every(ErrorCode.CONCURRENT_TRANSACTIONS)), ("c", {})]


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (0, 0, ErrorCode.NETWORK_EXCEPTION),
        (0, 1, ErrorCode.INVALID_PRODUCER_EPOCH),
        (1, 0, ErrorCode.INVALID_PRODUCER_EPOCH),
    ],
)
def test_one_transaction_of_an_id_waits_at_a_time(
    asker: Asker, first: int, second: int, told: ErrorCode
) -> None:
    """A retry takes the place of what it repeats, a later epoch that of an earlier one."""
    asker.verify("busy")
    for epoch in (first, second):
        asker.verify("t", epoch=epoch)
    assert asker.told == [("t", every(told))]
    asker.answer(busy=0)
    (transaction,) = asker.network.sent[-1].request.transactions
    assert transaction.producer_epoch == max(first, second)


@pytest.mark.parametrize(
    ("code", "knows_abortable", "told"),
    [
        (ErrorCode.PRODUCER_FENCED, True, ErrorCode.INVALID_PRODUCER_EPOCH),
        (ErrorCode.TRANSACTION_ABORTABLE, True, ErrorCode.TRANSACTION_ABORTABLE),
        (ErrorCode.TRANSACTION_ABORTABLE, False, ErrorCode.INVALID_TXN_STATE),
        (ErrorCode.NOT_COORDINATOR, True, ErrorCode.NOT_COORDINATOR),
        (9999, True, ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_a_producer_is_told_what_it_understands(
    asker: Asker, code: int, knows_abortable: bool, told: ErrorCode
) -> None:
    asker.verify(knows_abortable=knows_abortable)
    asker.answer(t=code)
    assert asker.told == [("t", every(told))]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ErrorCode.INVALID_TXN_STATE),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
    ],
)
def test_an_error_of_the_whole_answer_is_everybodys(
    asker: Asker, code: ErrorCode, told: ErrorCode
) -> None:
    asker.verify()
    asker.answer(error=code)
    assert asker.told == [("t", every(told))]


def test_what_an_answer_leaves_out_is_not_verified(asker: Asker) -> None:
    asker.verify()
    asker.answer(another=0)
    assert asker.told == [("t", every(ErrorCode.NETWORK_EXCEPTION))]


def test_a_lost_connection_is_a_network_exception(asker: Asker) -> None:
    asker.verify("a")
    asker.verify("b")
    asker.network.sent[0].done(Disconnected("gone"))
    assert asker.told == [("a", every(ErrorCode.NETWORK_EXCEPTION))]
    asker.answer(b=0)
    assert asker.told[1:] == [("b", {})]


def test_nobody_is_asked_where_no_coordinator_is_known() -> None:
    asker = Asker()
    asker.verify("a")
    asker.learn(leader=-1)
    asker.verify("b")
    assert asker.told == [(name, every(ErrorCode.COORDINATOR_NOT_AVAILABLE)) for name in ("a", "b")]
    assert asker.network.sent == []


def test_a_coordinator_that_came_back_elsewhere_is_asked_there(asker: Asker) -> None:
    asker.verify("a")
    asker.verify("b")
    asker.learn(port=9999)
    asker.verify("c")
    lost = every(ErrorCode.NETWORK_EXCEPTION)
    assert sorted(asker.told, key=lambda told: told[0]) == [("a", lost), ("b", lost)]
    assert asker.network.sent[-1].endpoint.port == 9999
    asker.answer(c=0)
    assert asker.told[-1] == ("c", {})


def test_nobody_is_told_after_the_end(asker: Asker) -> None:
    """The logs are closed by then."""
    asker.verify("a")
    asker.verify("b")
    asker.manager.close()
    asker.network.sent[0].done(Disconnected("closed"))
    assert asker.told == []
