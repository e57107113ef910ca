"""The functions that a program gives a consumer: deserializers and interceptors.

They run within the program's own calls, without the consumer's lock.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from logquake.client.callbacks import fails_alone, those_with
from logquake.client.consumer.group.listener import Offsets
from logquake.client.consumer.records import ConsumerRecord, ConsumerRecords
from logquake.client.errors import RecordDeserializationError
from logquake.wire.topic_partition import TopicPartition

_LOG = logging.getLogger(__name__)

Headers: TypeAlias = tuple[tuple[str, bytes | None], ...]


class DeserializerOfTopics(Protocol):
    """Kafka's Deserializer, for formats that need more than the bytes."""

    def deserialize(self, topic: str, headers: Headers, data: bytes | None, /) -> Any: ...


Deserializer: TypeAlias = Callable[[bytes], Any] | DeserializerOfTopics
"""A function of the bytes, not called for None; or an object, which is called for None too."""


class ConsumerInterceptor:
    """Override what you need (KIP-42). Exceptions are logged, and otherwise ignored."""

    def on_consume(self, records: ConsumerRecords, /) -> ConsumerRecords:
        """Called before records are returned; the program gets what this returns instead."""
        return records

    def on_commit(self, offsets: Offsets, /) -> None:
        """Called after these offsets were committed."""

    def close(self) -> None:
        """Called when the consumer closes."""


_Of = Mapping[TopicPartition, Sequence[ConsumerRecord]]


class Made(NamedTuple):
    """``failed`` has errors by partition; records after the failing one were not tried."""

    records: Mapping[TopicPartition, Sequence[ConsumerRecord]]
    failed: dict[TopicPartition, RecordDeserializationError]


class Deserializers:
    """None leaves bytes as they are."""

    def __init__(self, key: Deserializer | None, value: Deserializer | None) -> None:
        self._key = key
        self._value = value

    @property
    def any(self) -> bool:
        return self._key is not None or self._value is not None

    def of(self, fetched: _Of) -> Made:
        made: dict[TopicPartition, Sequence[ConsumerRecord]] = {}
        failed: dict[TopicPartition, RecordDeserializationError] = {}
        for place, records in fetched.items():
            done: list[ConsumerRecord] = []
            try:
                done.extend(map(self._record, records))
            except RecordDeserializationError as error:
                failed[place] = error
            if done:
                made[place] = done
        return Made(made, failed)

    def close(self) -> None:
        for each in (self._key, self._value):
            _close(each)

    def _record(self, record: ConsumerRecord) -> ConsumerRecord:
        key, value = record.key, record.value
        if self._key is not None:
            key = _deserialized(self._key, key, record, "key")
        if self._value is not None:
            value = _deserialized(self._value, value, record, "value")
        return ConsumerRecord(*record[:4], key, value, *record[6:])


def _deserialized(
    deserializer: Deserializer, data: bytes | None, record: ConsumerRecord, what: str
) -> Any:
    try:
        if hasattr(deserializer, "deserialize"):
            return deserializer.deserialize(record.topic, record.headers, data)
        return None if data is None else deserializer(data)
    except Exception as error:
        raise RecordDeserializationError(record.place, record.offset, what) from error


class Interceptors:
    """Called in the given order, each with what the previous one returned."""

    def __init__(self, interceptors: Sequence[ConsumerInterceptor]) -> None:
        self._interceptors = interceptors
        self._on_consume = those_with("on_consume", interceptors)
        self._on_commit = those_with("on_commit", interceptors)

    @property
    def any(self) -> bool:
        return bool(self._interceptors)

    def on_consume(self, records: ConsumerRecords) -> ConsumerRecords:
        for each in self._on_consume:
            try:
                records = _as_records(each.on_consume(records))
            except Exception:  # noqa: BLE001 (the program's own: whatever it raises)
                _LOG.exception("an interceptor failed on records")
        return records

    def on_commit(self, offsets: Offsets) -> None:
        for each in self._on_commit:
            try:
                each.on_commit(offsets)
            except BaseException as error:
                if not fails_alone(error):
                    raise
                _LOG.exception("an interceptor failed on a commit")

    def close(self) -> None:
        for each in self._interceptors:
            _close(each)


def _as_records(given: object) -> ConsumerRecords:
    if not isinstance(given, ConsumerRecords):
        raise TypeError(f"on_consume gives {given!r:.100}, and no ConsumerRecords")
    return given


def _close(own: object) -> None:
    close = getattr(own, "close", None)
    if close is None:
        return
    try:
        close()
    except Exception:  # noqa: BLE001 (the program's own: whatever it raises)
        _LOG.exception("%r could not be closed", own)
