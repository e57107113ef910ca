"""The program's interceptors, called for each record (KIP-42; ProducerInterceptors)."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from logquake.client.callbacks import close_own, fails_alone, those_with
from logquake.client.producer.delivery import RecordMetadata, nowhere
from logquake.client.producer.record import ProducerRecord
from logquake.wire.topic_partition import TopicPartition

_LOG = logging.getLogger(__name__)


class ProducerInterceptor:
    """Override what you need. Exceptions are logged, and otherwise ignored; if `on_send` does not
    return a record, send() raises TypeError.
    """

    def on_send(self, record: ProducerRecord, /) -> ProducerRecord:
        """On the caller's thread, before serialization. Returns the record to send instead."""
        return record

    def on_acknowledgement(self, metadata: RecordMetadata, error: Exception | None, /) -> None:
        """Called like the record's callback: it is written, or ``error`` says why not."""

    def close(self) -> None:
        """Called when the producer closes."""


class Interceptors:
    """In order; each gets what the previous one returned."""

    def __init__(self, interceptors: Sequence[ProducerInterceptor]) -> None:
        self._interceptors = interceptors
        self._on_send = those_with("on_send", interceptors)
        self._on_acknowledgement = those_with("on_acknowledgement", interceptors)

    def __bool__(self) -> bool:
        return bool(self._interceptors)

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        """Raises TypeError if one does not return a record, since there is nothing to send."""
        for each in self._on_send:
            try:
                record = each.on_send(record)
            except Exception:  # noqa: BLE001 - the program's own: whatever it raises
                _LOG.exception("an interceptor fails with a record to %s", record.topic)
            record = _as_record(record, type(each).__name__)
        return record

    def on_acknowledgement(self, metadata: RecordMetadata, error: Exception | None) -> None:
        for each in self._on_acknowledgement:
            try:
                each.on_acknowledgement(metadata, error)
            except BaseException as raised:
                if not fails_alone(raised):
                    raise
                _LOG.exception("an interceptor fails with the fate of a record")

    def on_send_error(self, topic: str, partition: int | None, error: Exception) -> None:
        """For a record that never was in a batch."""
        self.on_acknowledgement(nowhere(place_wanted(topic, partition)), error)

    def close(self) -> None:
        for each in self._interceptors:
            close_own(each)


def _as_record(given: object, interceptor: str) -> ProducerRecord:
    if not isinstance(given, ProducerRecord):
        raise TypeError(f"on_send of {interceptor} gives {given!r:.100}, and no ProducerRecord")
    return given


def place_wanted(topic: str, partition: int | None) -> TopicPartition:
    """-1 stands for any."""
    return TopicPartition(topic, -1 if partition is None else partition)
