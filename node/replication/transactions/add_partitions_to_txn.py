"""Asking transaction coordinators whether partitions belong to a transaction (KIP-890).

Kafka's AddPartitionsToTxnManager: one request a coordinator in flight, and whatever comes
meanwhile goes with the next one. It goes over the network even where the coordinator is this very
broker. Here each transaction is told what its own client understands; Kafka tells all of a request
what the client of the first one does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.coordinators import CoordinatorTopic, coordinator_of
from logquake.seams.network import Channel, Disconnected, Endpoint, Network
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transactions import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition

_VERSION = 5  # TRANSACTION_ABORTABLE may be answered

# What a coordinator refused; a partition that is not named belongs to the transaction.
Refusals = dict[TopicPartition, ErrorCode]


@dataclass(frozen=True, slots=True)
class TransactionalProducer:
    """In whose name something is to be written. ``knows_abortable``: TRANSACTION_ABORTABLE."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    knows_abortable: bool


@dataclass(frozen=True, slots=True)
class _Asked:
    producer: TransactionalProducer
    partitions: Sequence[TopicPartition]
    done: Callable[[Refusals], None]

    def refuse(self, error: ErrorCode) -> None:
        self.done(dict.fromkeys(self.partitions, error))


class AddPartitionsToTxnManager:
    def __init__(
        self,
        network: Network,
        metadata: MetadataCache,
        transaction_log: CoordinatorTopic,
        client_id: str,
    ) -> None:
        self._network = network
        self._metadata = metadata
        self._transaction_log = transaction_log
        self._client_id = client_id
        self._coordinators: dict[int, _Coordinator] = {}

    def verify(
        self,
        producer: TransactionalProducer,
        partitions: Sequence[TopicPartition],
        done: Callable[[Refusals], None],
    ) -> None:
        """Ask the coordinator; done gets its answer, or an error for all, at once or later."""
        asked = _Asked(producer, partitions, done)
        endpoint = self._endpoint(producer.transactional_id)
        if endpoint is None:
            asked.refuse(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        else:
            self._coordinator(endpoint).ask(asked)

    def close(self) -> None:
        """Nobody is told any more: there is no log to append to."""
        for coordinator in self._coordinators.values():
            coordinator.abandon()
        self._coordinators.clear()

    def _endpoint(self, transactional_id: str) -> Endpoint | None:
        leader = coordinator_of(self._metadata, self._transaction_log, transactional_id)
        return None if leader is None else self._metadata.endpoint(leader)

    def _coordinator(self, endpoint: Endpoint) -> _Coordinator:
        """The one at this address; one that had the broker's id before is given up."""
        known = self._coordinators.get(endpoint.broker_id)
        if known is not None and known.endpoint == endpoint:
            return known
        if known is not None:
            known.close()
        coordinator = _Coordinator(endpoint, self._network.channel(endpoint, self._client_id))
        self._coordinators[endpoint.broker_id] = coordinator
        return coordinator


class _Coordinator:
    """What is asked of one broker: at most one transaction of a transactional id waits."""

    def __init__(self, endpoint: Endpoint, channel: Channel) -> None:
        self.endpoint = endpoint
        self._channel = channel
        self._waiting: dict[str, _Asked] = {}
        self._in_flight: dict[str, _Asked] = {}

    def ask(self, asked: _Asked) -> None:
        """A later epoch takes the place of an earlier one; the same one is a producer's retry."""
        producer = asked.producer
        earlier = self._waiting.get(producer.transactional_id)
        if earlier is not None and producer.producer_epoch < earlier.producer.producer_epoch:
            asked.refuse(ErrorCode.INVALID_PRODUCER_EPOCH)
            return
        self._waiting[producer.transactional_id] = asked
        if earlier is not None:
            is_fenced = earlier.producer.producer_epoch < producer.producer_epoch
            earlier.refuse(
                ErrorCode.INVALID_PRODUCER_EPOCH if is_fenced else ErrorCode.NETWORK_EXCEPTION
            )
        self._send()

    def close(self) -> None:
        """What is asked ends with NETWORK_EXCEPTION."""
        waiting, self._waiting = self._waiting, {}
        for asked in waiting.values():
            asked.refuse(ErrorCode.NETWORK_EXCEPTION)
        self._channel.close()

    def abandon(self) -> None:
        """What is asked has no end."""
        self._waiting.clear()
        self._in_flight.clear()
        self._channel.close()

    def _send(self) -> None:
        if self._in_flight or not self._waiting:
            return
        self._in_flight, self._waiting = self._waiting, {}
        transactions = [_verify_only(asked) for asked in self._in_flight.values()]
        request = AddPartitionsToTxnRequest(transactions=transactions)
        self._channel.send(request, _VERSION, self._on_answer)

    def _on_answer(self, answer: Message | Disconnected) -> None:
        answered, self._in_flight = self._in_flight, {}
        for transactional_id, asked in answered.items():
            asked.done(_refusals(asked, transactional_id, answer))
        self._send()


def _verify_only(asked: _Asked) -> AddPartitionsToTxnTransaction:
    by_topic: dict[str, list[int]] = {}
    for topic, partition in asked.partitions:
        by_topic.setdefault(topic, []).append(partition)
    return AddPartitionsToTxnTransaction(
        transactional_id=asked.producer.transactional_id,
        producer_id=asked.producer.producer_id,
        producer_epoch=asked.producer.producer_epoch,
        verify_only=True,
        topics=[
            AddPartitionsToTxnTopic(name=name, partitions=partitions)
            for name, partitions in by_topic.items()
        ],
    )


def _refusals(asked: _Asked, transactional_id: str, answer: Message | Disconnected) -> Refusals:
    """What the answer says of one transaction; a partition that it leaves out is not verified."""
    if not isinstance(answer, AddPartitionsToTxnResponse):
        return dict.fromkeys(asked.partitions, ErrorCode.NETWORK_EXCEPTION)
    if answer.error_code:
        error = ErrorCode.of_peer(answer.error_code)
        if error is ErrorCode.CLUSTER_AUTHORIZATION_FAILED:  # this broker's fault, not the client's
            error = ErrorCode.INVALID_TXN_STATE
        return dict.fromkeys(asked.partitions, error)
    told = _told(answer.results_by_transaction, transactional_id)
    errors = {
        partition: _for_producer(asked.producer, told.get(partition, ErrorCode.NETWORK_EXCEPTION))
        for partition in asked.partitions
    }
    return {partition: error for partition, error in errors.items() if error}


def _told(
    results: Sequence[AddPartitionsToTxnResult], transactional_id: str
) -> Mapping[TopicPartition, int]:
    return {
        TopicPartition(topic.name, each.partition_index): each.partition_error_code
        for result in results
        if result.transactional_id == transactional_id
        for topic in result.topic_results
        for each in topic.results_by_partition
    }


def _for_producer(producer: TransactionalProducer, code: int) -> ErrorCode:
    """Producers know neither PRODUCER_FENCED here nor, the older ones, TRANSACTION_ABORTABLE."""
    error = ErrorCode.of_peer(code)
    if error is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if error is ErrorCode.TRANSACTION_ABORTABLE and not producer.knows_abortable:
        return ErrorCode.INVALID_TXN_STATE
    return error
