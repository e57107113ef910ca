"""The program's deserializers make keys and values of bytes (Kafka's Deserializer).

They run within the program's own calls, without the consumer's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from logquake.client.callbacks import close_own
from logquake.client.consumer.records import ConsumerRecord
from logquake.client.errors import RecordDeserializationError
from logquake.wire.topic_partition import TopicPartition

Headers: TypeAlias = tuple[tuple[str, bytes | None], ...]


class DeserializerOfTopics(Protocol):
    """Kafka's Deserializer, for formats that need more than the bytes."""

    def deserialize(self, topic: str, headers: Headers, data: bytes | None, /) -> Any: ...


Deserializer: TypeAlias = Callable[[bytes], Any] | DeserializerOfTopics
"""A function of the bytes, not called for None; or an object, which is called for None too."""


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
            close_own(each)

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
