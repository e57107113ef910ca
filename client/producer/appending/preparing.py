"""Calls a program's interceptors and serializers before a record is appended."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from logquake.client.arguments import check_callback, check_whole, headers_of
from logquake.client.clock import Clock
from logquake.client.producer.appending.interceptors import Interceptors
from logquake.client.producer.appending.serializing import serialize_by
from logquake.client.producer.delivery import RecordMetadata
from logquake.client.producer.record import Headers, ProducerRecord
from logquake.client.settings.kinds import LONG_MAX
from logquake.client.settings.producer import ProducerConfig
from logquake.wire.records import Record

OnDelivery: TypeAlias = Callable[[RecordMetadata, Exception | None], object]
"""Kafka's Callback: gets the record's metadata, or its destination and the error."""


_AS_THEY_ARE = frozenset({bytes, type(None)})  # as most keys and values
_new = tuple.__new__  # what a named tuple's own __new__ calls: half the time, for each record


class Outgoing(NamedTuple):
    """A serialized record, and its callbacks."""

    topic: str
    partition: int | None
    record: Record
    on_delivery: OnDelivery | None


class Preparing:
    """Runs on the caller's thread; callers share only the program's own objects."""

    def __init__(self, config: ProducerConfig, interceptors: Interceptors, clock: Clock) -> None:
        self._interceptors = interceptors
        self._clock = clock
        self._takes_bytes = config.key_serializer is None and config.value_serializer is None
        self._own = (config.key_serializer, config.value_serializer, config.partitioner_class)
        self._serialize_key = serialize_by(config.key_serializer, "key")
        self._serialize_value = serialize_by(config.value_serializer, "value")

    def intercepted(
        self,
        topic: str,
        value: Any,
        key: Any,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Headers,
        on_delivery: OnDelivery | None,
    ) -> Outgoing:
        """Like serialized(), but calls the program's interceptors first."""
        wanted = ProducerRecord(topic, value, key, partition, timestamp_ms, headers)
        check_callback(on_delivery, "on_delivery")
        record = self._interceptors.on_send(wanted)
        try:
            return self.serialized(*record, partial(self._acknowledge, on_delivery))
        except Exception as error:
            self._interceptors.on_send_error(record.topic, record.partition, error)
            raise

    def serialized(
        self,
        topic: str,
        value: Any,
        key: Any,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Headers,
        on_delivery: OnDelivery | None,
    ) -> Outgoing:
        """Raises SerializationError, ValueError for a negative partition or timestamp, and
        TypeError if one is not an integer, or for invalid headers: such a record cannot be sent.
        """
        if on_delivery is not None:
            check_callback(on_delivery, "on_delivery")
        if partition is not None and (partition := check_whole(partition, "partition")) < 0:
            raise ValueError(f"partition {partition}: a partition is never below 0")
        if timestamp_ms is None:
            timestamp_ms = self._clock.wall_ms()
        elif not 0 <= (timestamp_ms := check_whole(timestamp_ms, "timestamp_ms")) <= LONG_MAX:
            raise ValueError(f"timestamp_ms={timestamp_ms}: a record's time is 0 to 2^63 - 1")
        if not (self._takes_bytes and type(key) in _AS_THEY_ARE and type(value) in _AS_THEY_ARE):
            key = self._serialize_key(topic, headers, key)
            value = self._serialize_value(topic, headers, value)
        carried = headers_of(headers) if headers else ()  # a serializer may have added some
        record = _new(Record, (0, timestamp_ms, key, value, carried))
        return _new(Outgoing, (topic, partition, record, on_delivery))

    def _acknowledge(
        self, on_delivery: OnDelivery | None, metadata: RecordMetadata, error: Exception | None
    ) -> None:
        self._interceptors.on_acknowledgement(metadata, error)
        if on_delivery is not None:
            on_delivery(metadata, error)

    def close(self) -> None:
        """Close the program's objects that have a close()."""
        self._interceptors.close()
        for each in self._own:
            close: Callable[[], Any] | None = getattr(each, "close", None)
            if close is not None:
                close()
