"""A synchronous producer: one batch to one partition, acknowledged before the next.

Without idempotence a retry after a lost answer can write the batch twice, as Kafka's own producer
can. With it the broker recognises the repeated sequence. A batch whose fate stays unknown ends its
sequence: the producer then takes a new producer id, since the broker would refuse a later batch
of the old one wherever the lost batch is missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from logquake.client.errors import (
    BrokerError,
    ClientError,
    ConnectionLostError,
    DeliveryError,
    MalformedResponseError,
    RequestTimedOutError,
    check,
)
from logquake.client.producer.delivery import FATE_UNKNOWN
from logquake.client.routing import Router
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from logquake.wire.messages.transactions import InitProducerIdRequest, InitProducerIdResponse
from logquake.wire.records import BatchFlag, Codec, Record, encode_batch
from logquake.wire.sentinels import (
    ACKS_ALL,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    UNKNOWN_OFFSET,
)
from logquake.wire.topic_partition import TopicPartition

_LAST_VERSION = 11
_MAX_SEQUENCE = 0x7FFFFFFF


class ProducerRecord(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_ms: int | None = None  # None: now


class Delivered(NamedTuple):
    """Where the batch is: UNKNOWN_OFFSET after acks=0, or when the broker only remembers it."""

    base_offset: int
    log_append_time_ms: int = NO_TIMESTAMP


@dataclass(frozen=True, slots=True)
class ProducerSettings:
    """Under the producer's names, with Kafka's defaults but for idempotence."""

    acks: int = ACKS_ALL
    enable_idempotence: bool = False
    compression_type: Codec = Codec.NONE
    # How long a broker waits for followers before it answers REQUEST_TIMED_OUT.
    request_timeout_ms: int = 30_000
    # With all retries; then DeliveryError.
    delivery_timeout_ms: int = 120_000

    def __post_init__(self) -> None:
        if self.enable_idempotence and self.acks != ACKS_ALL:
            raise ValueError("idempotence needs acks=all")


@dataclass(slots=True)
class Identity:
    """A producer id and, per partition, the sequence that its next batch begins with.

    With a transactional id, all that is sent is part of its transaction.
    """

    producer_id: int = NO_PRODUCER_ID
    epoch: int = NO_PRODUCER_EPOCH
    transactional_id: str | None = None
    sequences: dict[TopicPartition, int] = field(default_factory=lambda: defaultdict(int))


class Producer:
    def __init__(
        self,
        router: Router,
        settings: ProducerSettings | None = None,
        identity: Identity | None = None,
    ) -> None:
        self._router = router
        self._settings = settings or ProducerSettings()
        self._identity = identity

    def send(self, topic: str, partition: int, records: Sequence[ProducerRecord]) -> Delivered:
        """Write the records as one batch.

        Raises DeliveryError, whose `may_be_written` tells whether the log may hold them all the
        same, and ValueError for no records.
        """
        if not records:
            raise ValueError("no records to send")
        identity = self._identify()
        delivery = _Delivery(self._router, self._settings, identity, topic, partition, records)
        try:
            delivered = self._router.with_retries(
                delivery.attempt, self._settings.delivery_timeout_ms
            )
        except ClientError as error:
            # Of a transaction it is the end: another id would be no part of it.
            if delivery.may_be_written and identity.transactional_id is None:
                self._identity = None
            raise DeliveryError(error, may_be_written=delivery.may_be_written) from error
        delivery.advance_sequence()
        return delivered

    def _identify(self) -> Identity:
        if self._identity is None:
            self._identity = Identity()
            if self._settings.enable_idempotence:
                self._identity = self._new_identity()
        return self._identity

    def _new_identity(self) -> Identity:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0)

        def attempt() -> Identity:
            answer = self._router.any_broker().request(request, InitProducerIdResponse)
            check(answer.error_code, "producer id")
            return Identity(answer.producer_id, answer.producer_epoch)

        try:
            return self._router.with_retries(attempt)
        except ClientError as error:
            self._identity = None
            raise DeliveryError(error, may_be_written=False) from error


class _Delivery:
    """One batch on its way, through as many attempts as it takes."""

    def __init__(
        self,
        router: Router,
        settings: ProducerSettings,
        identity: Identity,
        topic: str,
        partition: int,
        records: Sequence[ProducerRecord],
    ) -> None:
        self.may_be_written = False
        self._router = router
        self._settings = settings
        self._identity = identity
        self._topic = topic
        self._partition = partition
        self._count = len(records)
        self._request = self._encode(records)

    def attempt(self) -> Delivered:
        leader = self._router.leader(self._topic, self._partition)
        connection = self._router.broker(leader.broker_id)
        if self._settings.acks == 0:
            connection.send(self._request, at_most=_LAST_VERSION)
            return Delivered(UNKNOWN_OFFSET)
        # The broker may use all of its time-out before it answers.
        wait_ms = self._settings.request_timeout_ms + self._router.settings.request_timeout_ms
        try:
            answer = connection.request(
                self._request, ProduceResponse, at_most=_LAST_VERSION, timeout_ms=wait_ms
            )
        except (ConnectionLostError, RequestTimedOutError, MalformedResponseError):
            self.may_be_written = True
            raise
        return self._delivered(answer)

    def advance_sequence(self) -> None:
        if self._identity.producer_id == NO_PRODUCER_ID:
            return
        place = TopicPartition(self._topic, self._partition)
        following = self._identity.sequences[place] + self._count
        self._identity.sequences[place] = following & _MAX_SEQUENCE

    def _delivered(self, answer: ProduceResponse) -> Delivered:
        found = [part for topic in answer.responses for part in topic.partition_responses]
        if len(found) != 1:
            self.may_be_written = True
            raise MalformedResponseError(f"{len(found)} partitions where one was produced to")
        result = found[0]
        if result.error_code == ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
            return Delivered(UNKNOWN_OFFSET)
        self._check(result)
        return Delivered(result.base_offset, result.log_append_time_ms)

    def _check(self, result: PartitionProduceResponse) -> None:
        try:
            check(
                result.error_code,
                f"{self._topic}-{self._partition}: {result.error_message or 'not written'}",
            )
        except BrokerError as error:
            self.may_be_written = self.may_be_written or error.code in FATE_UNKNOWN
            raise

    def _encode(self, records: Sequence[ProducerRecord]) -> ProduceRequest:
        now_ms = self._router.clock.wall_ms()
        has_identity = self._identity.producer_id != NO_PRODUCER_ID
        transactional_id = self._identity.transactional_id
        sequence = self._identity.sequences[TopicPartition(self._topic, self._partition)]
        batch = encode_batch(
            [
                Record(
                    offset,
                    now_ms if record.timestamp_ms is None else record.timestamp_ms,
                    record.key,
                    record.value,
                    record.headers,
                )
                for offset, record in enumerate(records)
            ],
            codec=self._settings.compression_type,
            producer_id=self._identity.producer_id,
            producer_epoch=self._identity.epoch,
            base_sequence=sequence if has_identity else NO_SEQUENCE,
            flags=0 if transactional_id is None else BatchFlag.TRANSACTIONAL,
        )
        data = PartitionProduceData(index=self._partition, records=batch)
        return ProduceRequest(
            transactional_id=transactional_id,
            acks=self._settings.acks,
            timeout_ms=self._settings.request_timeout_ms,
            topic_data=[TopicProduceData(name=self._topic, partition_data=[data])],
        )
