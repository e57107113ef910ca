"""The requests of a transactional producer, each on a connection of its own.

What is held up on its way holds up nothing behind it, and may arrive when whoever asked has gone
on. Nothing is asked twice here.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from threading import Thread
from typing import NamedTuple, TypeVar

from logquake.chaos.workloads.whom import Whom
from logquake.client.clock import Clock
from logquake.client.connection import Connection
from logquake.client.errors import check
from logquake.client.producer.transactions.enlisted import LAST_ADD_OF_CLIENTS
from logquake.cluster.observing.coordinated import OPEN_STATES
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from logquake.wire.messages.transaction_admin import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
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
from logquake.wire.records import BatchFlag, Record, encode_batch
from logquake.wire.sentinels import ACKS_ALL, NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from logquake.wire.topic_partition import TopicPartition

T = TypeVar("T")

# Longer than what is held up on its way is kept there.
ANSWERED_WITHIN_MS = 300_000

# Later ones have brokers add partitions and raise epochs, as of Kafka 4 (KIP-890).
_LAST_PRODUCE_AFTER_ADD = 11
_LAST_END_OF_SAME_EPOCH = 4
_WRITTEN_WITHIN_MS = 30_000


class ProducerIdentity(NamedTuple):
    producer_id: int
    epoch: int


NOBODY = ProducerIdentity(NO_PRODUCER_ID, NO_PRODUCER_EPOCH)


class Asking:
    """Of one transactional id. What fails raises ClientError, here or as the future's."""

    def __init__(
        self, whom: Whom, clock: Clock, transactional_id: str, transaction_timeout_ms: int
    ) -> None:
        self._whom = whom
        self._clock = clock
        self._id = transactional_id
        self._timeout_ms = transaction_timeout_ms

    def identify(self, present: ProducerIdentity = NOBODY) -> ProducerIdentity:
        """A producer id and epoch; whoever has one goes on with the next epoch (KIP-360)."""
        request = InitProducerIdRequest(
            transactional_id=self._id,
            transaction_timeout_ms=self._timeout_ms,
            producer_id=present.producer_id,
            producer_epoch=present.epoch,
        )
        with closing(self._coordinator()) as connection:
            answer = connection.request(request, InitProducerIdResponse)
        check(answer.error_code, f"producer id of {self._id}")
        return ProducerIdentity(answer.producer_id, answer.producer_epoch)

    def add(self, identity: ProducerIdentity, place: TopicPartition) -> None:
        """The partition becomes part of the transaction, and its first one begins it."""
        topic = AddPartitionsToTxnTopic(name=place.topic, partitions=[place.partition])
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._id,
            v3_and_below_producer_id=identity.producer_id,
            v3_and_below_producer_epoch=identity.epoch,
            v3_and_below_topics=[topic],
        )
        with closing(self._coordinator()) as connection:
            answer = connection.request(
                request,
                AddPartitionsToTxnResponse,
                at_most=LAST_ADD_OF_CLIENTS,
                timeout_ms=ANSWERED_WITHIN_MS,
            )
        for each in answer.results_by_topic_v3_and_below:
            for result in each.results_by_partition:
                check(result.partition_error_code, f"{place} in the transaction of {self._id}")

    def produce(
        self,
        identity: ProducerIdentity,
        place: TopicPartition,
        sequence: int,
        key: bytes,
        value: bytes,
    ) -> Future[int]:
        """The offset of the record."""
        record = Record(0, self._clock.wall_ms(), key, value, ())
        batch = encode_batch(
            [record],
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
            base_sequence=sequence,
            flags=BatchFlag.TRANSACTIONAL,
        )
        data = PartitionProduceData(index=place.partition, records=batch)
        request = ProduceRequest(
            transactional_id=self._id,
            acks=ACKS_ALL,
            timeout_ms=_WRITTEN_WITHIN_MS,
            topic_data=[TopicProduceData(name=place.topic, partition_data=[data])],
        )
        connection = self._whom.leader(place)

        def ask() -> int:
            answer = connection.request(
                request,
                ProduceResponse,
                at_most=_LAST_PRODUCE_AFTER_ADD,
                timeout_ms=ANSWERED_WITHIN_MS,
            )
            (result,) = (one for topic in answer.responses for one in topic.partition_responses)
            check(result.error_code, f"{place}: {result.error_message or 'not written'}")
            return result.base_offset

        return _asked(connection, ask)

    def end(self, identity: ProducerIdentity, *, committed: bool) -> Future[None]:
        """Done once the coordinator has decided; the markers come later, see is_open()."""
        request = EndTxnRequest(
            transactional_id=self._id,
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
            committed=committed,
        )
        connection = self._coordinator()

        def ask() -> None:
            answer = connection.request(
                request,
                EndTxnResponse,
                at_most=_LAST_END_OF_SAME_EPOCH,
                timeout_ms=ANSWERED_WITHIN_MS,
            )
            check(answer.error_code, f"end of the transaction of {self._id}")

        return _asked(connection, ask)

    def is_open(self) -> bool:
        """Whether it has begun, and not all of its markers are written."""
        request = DescribeTransactionsRequest(transactional_ids=[self._id])
        with closing(self._coordinator()) as connection:
            answer = connection.request(request, DescribeTransactionsResponse)
        for each in answer.transaction_states:
            check(each.error_code, f"transactional id {self._id}")
        return any(each.transaction_state in OPEN_STATES for each in answer.transaction_states)

    def _coordinator(self) -> Connection:
        return self._whom.coordinator(self._id)


def _asked(connection: Connection, ask: Callable[[], T]) -> Future[T]:
    """On a thread that keeps no process from its end, however long the answer takes."""
    answer: Future[T] = Future()

    def carry_out() -> None:
        with closing(connection):
            try:
                answer.set_result(ask())
            except Exception as error:  # noqa: BLE001 - raised where it is waited for
                answer.set_exception(error)

    Thread(target=carry_out, name="asked", daemon=True).start()
    return answer
