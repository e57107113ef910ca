"""Transactions at one partition, with their messages in any order that a network may bring them in.

Broker 1 leads and broker 2 follows. Producers write, send again, give up and end; their coordinator
verifies, decides, and when it fails over sends its markers again while the old ones are still on
their way. What is drawn from a seed is judged after each event by the records in the log.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from logquake.node.replication.fetch_sessions import FetchContext
from logquake.node.replication.partition.replica_log import ReplicaLog
from logquake.node.replication.transactions.add_partitions_to_txn import TransactionalProducer
from logquake.node.replication.values import (
    FetchParams,
    FetchPartition,
    Isolation,
    ProduceEntry,
    ProduceResult,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transactions import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)
from logquake.wire.messages.update_metadata import (
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from logquake.wire.records import (
    BatchFlag,
    BatchHeader,
    ControlType,
    Record,
    encode_batch,
    encode_end_marker,
    read_header,
)
from logquake.wire.sentinels import ACKS_ALL
from tests.doubles.network import ScriptedNetwork, Sent
from tests.unit.node.replication.one_broker import OneBroker, _live

T = TypeVar("T")

PRODUCERS = 3
EVENTS = 250
MOST_EVENTS_TO_THE_END = 2_000
AGAIN_SHARE = 0.2
COMMIT_SHARE = 0.7
LEADER_ACKS = 1
TIMEOUT_MS = 30_000
BYTES = 1 << 20


@dataclass(slots=True, eq=False)
class Transaction:
    """``number`` is the timestamp of its records and markers, by which the log shows whose they
    are. ``commits`` is None while it is open.
    """

    number: int
    producer_id: int
    epoch: int
    sent: set[int] = field(default_factory=set)  # sequences
    acked: set[int] = field(default_factory=set)
    commits: bool | None = None

    def __str__(self) -> str:
        return f"transaction {self.number} of {self.producer_id}/{self.epoch}"


@dataclass(slots=True)
class Producer:
    """With what the coordinator knows of it."""

    id: int
    epoch: int = 0
    sequence: int = 0
    transaction: Transaction | None = None


@dataclass(frozen=True, slots=True)
class Produce:
    transaction: Transaction
    sequence: int


@dataclass(frozen=True, slots=True)
class Marker:
    transaction: Transaction
    coordinator_epoch: int


class Violation(Exception):  # noqa: N818 - what a run found, not what it failed of
    """What must not be."""


class TransactionOrders:
    def __init__(self, broker: OneBroker, network: ScriptedNetwork, seed: int) -> None:
        self._broker = broker
        self._network = network
        self._rng = Random(seed)
        self._producers = [Producer(id=10 + index) for index in range(PRODUCERS)]
        self._coordinator_epoch = 0
        self._transactions: list[Transaction] = []
        self._produces: list[Produce] = []
        self._markers: list[Marker] = []
        self._answers: list[tuple[Sent, AddPartitionsToTxnResponse]] = []
        self._asked = 0  # of the network's requests, how many the coordinator has seen
        self._log = _LogView(self._transactions)
        self.refused = 0  # batches and markers that were not appended
        broker.lead(isr=(1, 2))
        _name_coordinator(broker)

    @property
    def ended(self) -> int:
        return self._log.ended

    def run(self) -> None:
        """Raises Violation."""
        arrivals = [
            *[self._produce_arrives, self._coordinator_answers, self._answer_arrives] * 2,
            *[self._marker_arrives, self._follow],
        ]
        everything = [*arrivals * 3, *[self._write] * 3, self._end, self._fail_over]
        for _ in range(EVENTS):
            self._happen(self._rng.choice(everything))
        for producer in self._producers:
            self._decide(producer)
        for _ in range(MOST_EVENTS_TO_THE_END):
            if self._is_over():
                return
            self._happen(self._rng.choice(arrivals))
        stable = self._replica.last_stable_offset
        raise Violation(f"readers of committed records wait at {stable} of {self._replica.end}")

    @property
    def _replica(self) -> ReplicaLog:
        return self._broker.partition().replica

    def _happen(self, event: Callable[[], None]) -> None:
        event()
        self._broker.replicas.end_of_pass()
        self._log.judge(self._replica)

    def _is_over(self) -> bool:
        waiting = (self._produces, self._markers, self._answers, self._unseen())
        replica = self._replica
        return not any(waiting) and replica.last_stable_offset == replica.end

    # Producers

    def _write(self) -> None:
        """The next batch of a transaction, or the first of a new one."""
        producer = self._rng.choice(self._producers)
        if producer.transaction is None:
            number = len(self._transactions)
            producer.transaction = Transaction(number, producer.id, producer.epoch)
            self._transactions.append(producer.transaction)
        if producer.transaction.commits is None:
            producer.transaction.sent.add(producer.sequence)
            self._produces.append(Produce(producer.transaction, producer.sequence))
            producer.sequence += 1

    def _produce_arrives(self) -> None:
        produce = self._take(self._produces)
        if produce is None:
            return
        transaction = produce.transaction
        batch = memoryview(
            encode_batch(
                [Record(0, transaction.number, None, b"v")],
                producer_id=transaction.producer_id,
                producer_epoch=transaction.epoch,
                base_sequence=produce.sequence,
                flags=BatchFlag.TRANSACTIONAL,
            )
        )

        def done(results: list[ProduceResult]) -> None:
            if results[0].error is ErrorCode.NONE:
                transaction.acked.add(produce.sequence)
            else:
                self.refused += 1

        producer = TransactionalProducer(
            f"t{transaction.producer_id}",
            transaction.producer_id,
            transaction.epoch,
            knows_abortable=True,
        )
        entry = ProduceEntry("orders", 0, batch, read_header(batch))
        self._broker.replicas.transactional_appends.add(
            producer, [entry], LEADER_ACKS, TIMEOUT_MS, done
        )

    def _end(self) -> None:
        self._decide(self._rng.choice(self._producers))

    def _decide(self, producer: Producer) -> None:
        """Only what was acked is committed; what may come yet is given up with an abort."""
        transaction = producer.transaction
        if transaction is not None and transaction.commits is None:
            is_whole = transaction.sent == transaction.acked
            transaction.commits = is_whole and self._rng.random() < COMMIT_SHARE
            self._markers.append(Marker(transaction, self._coordinator_epoch))

    # Their coordinator

    def _coordinator_answers(self) -> None:
        """By what it knows at this moment; the answer is on its way then."""
        unseen = self._unseen()
        if not unseen:
            return
        self._asked += 1
        results = [
            AddPartitionsToTxnResult(
                transactional_id=asked.transactional_id,
                topic_results=[
                    AddPartitionsToTxnTopicResult(
                        name="orders",
                        results_by_partition=[
                            AddPartitionsToTxnPartitionResult(
                                partition_index=0,
                                partition_error_code=self._verify(
                                    asked.producer_id, asked.producer_epoch
                                ),
                            )
                        ],
                    )
                ],
            )
            for asked in unseen[0].request.transactions
        ]
        answer = AddPartitionsToTxnResponse(results_by_transaction=results)
        self._answers.append((unseen[0], answer))

    def _unseen(self) -> list[Sent]:
        asked = [sent for sent in self._network.sent if hasattr(sent.request, "transactions")]
        return asked[self._asked :]

    def _verify(self, producer_id: int, epoch: int) -> ErrorCode:
        producer = next(each for each in self._producers if each.id == producer_id)
        if epoch != producer.epoch:
            return ErrorCode.PRODUCER_FENCED
        if producer.transaction is None:
            return ErrorCode.TRANSACTION_ABORTABLE
        is_open = producer.transaction.commits is None
        return ErrorCode.NONE if is_open else ErrorCode.CONCURRENT_TRANSACTIONS

    def _answer_arrives(self) -> None:
        if self._answers:
            sent, answer = self._answers.pop(self._rng.randrange(len(self._answers)))
            sent.done(answer)

    def _marker_arrives(self) -> None:
        marker = self._take(self._markers, again=False)
        if marker is None:
            return
        transaction = marker.transaction
        batch = encode_end_marker(
            ControlType.COMMIT if transaction.commits else ControlType.ABORT,
            coordinator_epoch=marker.coordinator_epoch,
            producer_id=transaction.producer_id,
            producer_epoch=transaction.epoch,
            timestamp_ms=transaction.number,
        )

        def done(results: list[ProduceResult]) -> None:
            if results[0].error is not ErrorCode.NONE:
                self.refused += 1
            elif marker.coordinator_epoch == self._coordinator_epoch:
                self._complete(transaction)

        entry = ProduceEntry("orders", 0, memoryview(batch))
        self._broker.replicas.appends.add([entry], ACKS_ALL, TIMEOUT_MS, done, internal=True)

    def _complete(self, transaction: Transaction) -> None:
        """A producer that does not know what became of a batch begins a new epoch."""
        producer = next(each for each in self._producers if each.transaction is transaction)
        producer.transaction = None
        if transaction.sent != transaction.acked:
            producer.epoch += 1
            producer.sequence = 0

    def _fail_over(self) -> None:
        """The next one has what was decided written, once more; the old markers still come."""
        self._coordinator_epoch += 1
        for producer in self._producers:
            if producer.transaction is not None and producer.transaction.commits is not None:
                self._markers.append(Marker(producer.transaction, self._coordinator_epoch))

    # The follower

    def _follow(self) -> None:
        offset = self._rng.randint(self._replica.high_watermark, self._replica.end)
        asked = FetchPartition(("orders", 0), "orders", bytes(16), 0, offset, BYTES)
        params = FetchParams(2, 70, 0, 1, BYTES, Isolation.LOG_END)
        self._broker.replicas.fetches.fetch(params, FetchContext([asked]), lambda _reads: None)

    def _take(self, waiting: list[T], *, again: bool = True) -> T | None:
        """One of what is on its way; now and then it was sent twice."""
        if not waiting:
            return None
        at = self._rng.randrange(len(waiting))
        if again and self._rng.random() < AGAIN_SHARE:
            return waiting[at]
        return waiting.pop(at)


class _LogView:
    """What the records say: whose transaction is open from where, and what each marker ended."""

    def __init__(self, transactions: list[Transaction]) -> None:
        self.ended = 0
        self._transactions = transactions
        self._open: dict[int, list[BatchHeader]] = {}
        self._closed: list[tuple[int, int]] = []  # first offset, that of the marker
        self._seen = 0

    def judge(self, replica: ReplicaLog) -> None:
        for header in replica.log.headers(self._seen) if replica.end > self._seen else ():
            if header.is_control:
                self._end(header)
            else:
                self._open.setdefault(header.producer_id, []).append(header)
            self._seen = header.next_offset
        mark = replica.high_watermark
        firsts = [batches[0].base_offset for batches in self._open.values()]
        firsts += [first for first, marker in self._closed if marker >= mark]
        expected = min([*firsts, mark])
        if replica.last_stable_offset != expected:
            raise Violation(f"last stable is {replica.last_stable_offset}, and not {expected}")

    def _end(self, marker: BatchHeader) -> None:
        batches = self._open.pop(marker.producer_id, [])
        transaction = self._transactions[marker.max_timestamp]
        if not batches:
            return
        self.ended += 1
        self._closed.append((batches[0].base_offset, marker.base_offset))
        for batch in batches:
            if batch.max_timestamp != transaction.number:
                whose = self._transactions[batch.max_timestamp]
                raise Violation(f"{transaction} ended what is of {whose}")
        if transaction.commits and {batch.base_sequence for batch in batches} != transaction.sent:
            raise Violation(f"{transaction} is committed, and not whole")


def _name_coordinator(broker: OneBroker) -> None:
    """Broker 2 leads the one partition of __transaction_state."""
    state = UpdateMetadataPartitionState(partition_index=0, leader=2)
    topic = UpdateMetadataTopicState(topic_name="__transaction_state", partition_states=[state])
    broker.metadata.update(
        UpdateMetadataRequest(topic_states=[topic], live_brokers=[_live(1), _live(2)])
    )
