"""A producer that tells what it sends and what became of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import NamedTuple, Protocol

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from logquake.chaos.history.rows import Kind
from logquake.chaos.history.writer import HistoryWriter
from logquake.chaos.workloads.clients import partitions_of

ANY_PARTITION = -1  # the client's partitioner chooses

# Errors after which the record is certainly in no log. Others say nothing: a time-out, a lost
# connection, NOT_LEADER_OR_FOLLOWER; nor does _PURGE_QUEUE, since what an aborted transaction takes
# out of the client's queue may wait there to be sent again.
_NEVER_APPENDED = frozenset({KafkaError.MSG_SIZE_TOO_LARGE})
# Nor after this one, unless an attempt before was appended.
_NOT_APPENDED_NOW = KafkaError.NOT_ENOUGH_REPLICAS
_WAIT_S = 0.2


Headers = list[tuple[str, str | bytes | None]]


class Record(NamedTuple):
    """What is to be sent, and its number."""

    number: int
    key: bytes
    value: bytes | None
    partition: int = ANY_PARTITION
    headers: Headers | None = None
    transaction: int | None = None  # the sequence of its transaction-begun
    origin: tuple[str, int] | None = None  # the place of the record that it was made of


class SendLog(Protocol):
    """Who is told. ``sent`` gives back what the outcome is told with."""

    def sent(self, record: Record) -> int: ...
    def acked(self, record: Record, sent: int, partition: int, offset: int | None) -> None: ...
    def refused(self, record: Record, sent: int, why: str) -> None: ...
    def unknown(self, record: Record, sent: int, why: str) -> None: ...


class RecordSender(Protocol):
    """``failures``: what send() raises of a producer that is done for, or whose transaction is."""

    failures: tuple[type[Exception], ...]

    def partitions(self) -> range:
        """Asked for until the topic is there. Raises TimeoutError."""

    def send(self, record: Record, /) -> None: ...

    def finish(self, timeout_s: float, /) -> int:
        """Wait for the outcomes that are still missing; how many never came."""

    def serve(self, wait_s: float, /) -> None:
        """Let answers come in for so long."""


class SentRows:
    """A log that is a history. Records must name their partition."""

    def __init__(self, history: HistoryWriter, topic: str) -> None:
        self._history = history
        self._topic = topic

    def sent(self, record: Record) -> int:
        return self._tell(
            Kind.SEND,
            record,
            caused_by=record.transaction,
            before=record.origin,
            after="tombstone" if record.value is None else None,
        )

    def acked(self, record: Record, sent: int, _partition: int, offset: int | None) -> None:
        self._tell(Kind.ACKED, record, caused_by=sent, offset=offset)

    def refused(self, record: Record, sent: int, why: str) -> None:
        self._tell(Kind.REFUSED, record, caused_by=sent, why=why)

    def unknown(self, record: Record, sent: int, why: str) -> None:
        self._tell(Kind.UNKNOWN, record, caused_by=sent, why=why)

    def _tell(self, what: Kind, record: Record, **fields: object) -> int:
        subject = f"{self._topic}-{record.partition}"
        key = record.key.decode(errors="backslashreplace")
        return self._history.record(what, subject, value=record.number, key=key, **fields)


class Sender:
    """One producer, one topic, one log. Answers come while it sends, polls and finishes.

    ``tries_again``: the producer sends a record more than once where it has to.
    """

    failures: tuple[type[Exception], ...] = (KafkaException,)

    def __init__(
        self, producer: Producer, topic: str, log: SendLog, *, tries_again: bool = True
    ) -> None:
        self.producer = producer
        self._topic = topic
        self._log = log
        self._tries_again = tries_again

    def partitions(self) -> range:
        return partitions_of(self.producer, self._topic)

    def send(self, record: Record) -> None:
        """Waits while the client's queue is full. Raises KafkaException of a producer that is done
        for, or whose transaction is: then the record is refused."""
        sent = self._log.sent(record)
        delivered = partial(self._delivered, record, sent)
        while True:
            try:
                self.producer.produce(
                    self._topic,
                    record.value,
                    record.key,
                    record.partition,
                    on_delivery=delivered,
                    headers=record.headers,
                )
            except BufferError:
                self.serve(_WAIT_S)
            except KafkaException as raised:
                self._log.refused(record, sent, raised.args[0].name())
                if _is_over(raised.args[0]) or record.transaction is not None:
                    raise
                break
            else:
                break
        self.serve(0)

    def finish(self, timeout_s: float, progress: Callable[[], None] = lambda: None) -> int:
        """Wait for the outcomes that are still missing; how many never came."""
        deadline = monotonic() + timeout_s
        while self._flush() and monotonic() < deadline:
            progress()
        return len(self.producer)

    def serve(self, wait_s: float) -> None:
        """Hear answers. A fatal error is raised here once, as soon as the client hears of it; and
        by each call that needs the producer from then on, where there is something to be done.
        """
        with suppress(KafkaException):
            self.producer.poll(wait_s)

    def _flush(self) -> int:
        with suppress(KafkaException):  # as in serve()
            self.producer.flush(_WAIT_S)
        return len(self.producer)

    def _delivered(
        self, record: Record, sent: int, error: KafkaError | None, message: Message
    ) -> None:
        partition, offset = message.partition(), message.offset()
        if error is None and partition is not None:
            known = offset if offset is not None and offset >= 0 else None  # acks=0 tells of none
            self._log.acked(record, sent, partition, known)
        elif error is None:
            self._log.unknown(record, sent, "acked without a place")
        elif is_nowhere(error.code(), tries_again=self._tries_again):
            self._log.refused(record, sent, error.name())
        else:
            self._log.unknown(record, sent, error.name())


def is_nowhere(error: int, *, tries_again: bool) -> bool:
    """Whether a record is certainly in no log, of which the client said this in the end."""
    return error in _NEVER_APPENDED or (error == _NOT_APPENDED_NOW and not tries_again)


def _is_over(error: KafkaError) -> bool:
    """Of a producer: after a fatal error it takes nothing more."""
    return error.fatal() or error.code() == KafkaError._FATAL
