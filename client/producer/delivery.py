"""What becomes of one record (FutureRecordMetadata, RecordMetadata)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final, NamedTuple

from logquake.client.errors import ClientError
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import NO_TIMESTAMP, UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition

# With these a batch may be in the log all the same.
FATE_UNKNOWN: Final = frozenset(
    {
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    }
)

_LOG = logging.getLogger(__name__)


class RecordMetadata(NamedTuple):
    """Where a record is. The offset is UNKNOWN_OFFSET after acks=0, or where the broker only
    remembers the record; sizes are -1 of what was None.
    """

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key_bytes: int
    value_bytes: int


Outcome = RecordMetadata | ClientError
"""An error is told as a value: who waits for it raises it."""

Callback = Callable[[Outcome], None]


class Delivery:
    """One record on its way. It has one outcome, once, and tells it in the order of asking.

    A callback that raises is logged, and keeps nobody else from being told.
    """

    __slots__ = ("_callbacks", "_key_bytes", "_timestamp_ms", "_value_bytes", "outcome")

    def __init__(
        self, timestamp_ms: int, key: bytes | None, value: bytes | None, callback: Callback | None
    ) -> None:
        self.outcome: Outcome | None = None
        self._timestamp_ms = timestamp_ms
        self._key_bytes = -1 if key is None else len(key)
        self._value_bytes = -1 if value is None else len(value)
        self._callbacks: tuple[Callback, ...] = () if callback is None else (callback,)

    def when_done(self, callback: Callback) -> None:
        if self.outcome is not None:
            callback(self.outcome)
        else:
            self._callbacks += (callback,)

    def written(self, place: TopicPartition, offset: int, append_time_ms: int) -> RecordMetadata:
        """Its outcome when it is there; ``append_time_ms`` is NO_TIMESTAMP where the topic keeps
        the records' own.
        """
        timestamp_ms = self._timestamp_ms if append_time_ms == NO_TIMESTAMP else append_time_ms
        return RecordMetadata(*place, offset, timestamp_ms, self._key_bytes, self._value_bytes)

    def tell(self) -> None:
        callbacks, self._callbacks = self._callbacks, ()
        if self.outcome is None:
            raise RuntimeError("nothing to tell of a record yet")
        for callback in callbacks:
            try:
                callback(self.outcome)
            except Exception:  # noqa: BLE001 (the program's own: whatever it raises)
                _LOG.exception("a callback of a record failed")


def offset_in_batch(base_offset: int, place_in_batch: int) -> int:
    return UNKNOWN_OFFSET if base_offset == UNKNOWN_OFFSET else base_offset + place_in_batch
