"""Our producer, and telling what became of what it sends."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from time import sleep

from logquake.chaos.workloads.sending import Record, SendLog
from logquake.client import Producer
from logquake.client.errors import (
    BrokerError,
    ClientError,
    DeliveryError,
    ProducerBrokenError,
    ProducerFencedError,
    TimedOutError,
    TransactionFailedError,
)
from logquake.client.producer.delivery import RecordMetadata


class OwnSender:
    """Satisfies `RecordSender`. Answers are told on the producer's thread."""

    failures: tuple[type[Exception], ...] = (ClientError,)

    def __init__(self, producer: Producer, topic: str, log: SendLog) -> None:
        self.producer = producer
        self._topic = topic
        self._log = log

    def partitions(self) -> range:
        return range(len(self.producer.partitions_for(self._topic)))

    def send(self, record: Record) -> None:
        """Waits while the producer's memory is full. Raises ClientError of a producer that is done
        for, or whose transaction is: then the record is refused.
        """
        sent = self._log.sent(record)
        try:
            self.producer.send(
                self._topic,
                record.value,
                record.key,
                partition=record.partition,
                headers=_headers(record),
                on_delivery=partial(self._delivered, record, sent),
            )
        except ClientError as error:
            self._log.refused(record, sent, name_of(error))
            raise

    def finish(self, timeout_s: float) -> int:
        with suppress(TimedOutError):
            self.producer.flush(int(timeout_s * 1000))
            return 0
        return 1

    def serve(self, wait_s: float) -> None:
        sleep(wait_s)

    def _delivered(
        self, record: Record, sent: int, metadata: RecordMetadata, error: Exception | None
    ) -> None:
        if error is None:
            known = metadata.offset if metadata.offset >= 0 else None  # acks=0 tells of none
            self._log.acked(record, sent, metadata.partition, known)
        elif isinstance(error, DeliveryError) and not error.may_be_written:
            self._log.refused(record, sent, name_of(error))
        else:
            self._log.unknown(record, sent, name_of(error))


def _headers(record: Record) -> Sequence[tuple[str, bytes | None]]:
    return [
        (name, value.encode() if isinstance(value, str) else value)
        for name, value in record.headers or ()
    ]


def name_of(error: Exception) -> str:
    """Of a broker's error its own, of one of the client's that of its class."""
    while isinstance(error, DeliveryError | TransactionFailedError | ProducerBrokenError):
        error = error.cause
    if isinstance(error, BrokerError):
        return error.code.name
    return "PRODUCER_FENCED" if isinstance(error, ProducerFencedError) else type(error).__name__
