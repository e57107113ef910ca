"""What becomes of one record (FutureRecordMetadata, RecordMetadata)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
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


def nowhere(place: TopicPartition) -> RecordMetadata:
    """Of a record that is not written, where it was to go: partition -1 for any."""
    return RecordMetadata(*place, UNKNOWN_OFFSET, NO_TIMESTAMP, -1, -1)


Outcome = RecordMetadata | ClientError
"""An error is told as a value: who waits for it raises it."""

Callback = Callable[[Outcome], None]


class Results:
    """What became of the records of one batch (ProduceRequestResult)."""

    __slots__ = ("_append_time_ms", "_base_offset", "_error_of", "is_settled", "place")

    def __init__(self, place: TopicPartition) -> None:
        self.place = place
        self.is_settled = False
        self._base_offset = UNKNOWN_OFFSET
        self._append_time_ms = NO_TIMESTAMP
        self._error_of: Callable[[int], ClientError] | None = None

    def written(self, base_offset: int, append_time_ms: int) -> None:
        """``append_time_ms`` is NO_TIMESTAMP where the topic keeps the records' own."""
        self._base_offset = base_offset
        self._append_time_ms = append_time_ms
        self.is_settled = True

    def failed(self, error_of: Callable[[int], ClientError]) -> None:
        """Each record has its own error, by its place in the batch."""
        self._error_of = error_of
        self.is_settled = True

    def error_of(self, index: int) -> ClientError | None:
        return None if self._error_of is None else self._error_of(index)

    def offset_of(self, index: int) -> int:
        return UNKNOWN_OFFSET if self._base_offset == UNKNOWN_OFFSET else self._base_offset + index

    def time_of(self, timestamp_ms: int) -> int:
        return timestamp_ms if self._append_time_ms == NO_TIMESTAMP else self._append_time_ms


class Delivery:
    """One record on its way, by its place in a batch. It has one outcome, once, and tells it in the
    order of asking. Satisfies logquake.client.pending.Pending.

    There is one for each record: what it comes to is worked out for those who ask. A callback that
    raises is logged, and keeps nobody else from being told.
    """

    __slots__ = (
        "_callback",
        "_index",
        "_key_bytes",
        "_others",
        "_outcome",
        "_results",
        "_timestamp_ms",
        "_value_bytes",
    )

    def __init__(
        self,
        timestamp_ms: int,
        key: bytes | None,
        value: bytes | None,
        callback: Callback | None = None,
    ) -> None:
        self._timestamp_ms = timestamp_ms
        self._key_bytes = -1 if key is None else len(key)
        self._value_bytes = -1 if value is None else len(value)
        self._callback = callback
        self._others: tuple[Callable[[], object], ...] = ()
        self._results: Results | None = None
        self._index = 0
        self._outcome: Outcome | None = None

    def joins(self, results: Results, index: int) -> None:
        """It is the record at that index of a batch; of a part of it, once that is split."""
        self._results = results
        self._index = index

    @property
    def is_done(self) -> bool:
        return self._results is not None and self._results.is_settled

    @property
    def place(self) -> TopicPartition | None:
        """None until it is in a batch."""
        return self._results.place if self._results else None

    @property
    def outcome(self) -> Outcome | None:
        """None until it is done."""
        results = self._results
        if self._outcome is None and results is not None and results.is_settled:
            self._outcome = results.error_of(self._index) or self._written(results)
        return self._outcome

    def when_done(self, function: Callable[[], object]) -> None:
        self._others += (function,)

    def _written(self, results: Results) -> RecordMetadata:
        return RecordMetadata(
            *results.place,
            results.offset_of(self._index),
            results.time_of(self._timestamp_ms),
            self._key_bytes,
            self._value_bytes,
        )

    def tell(self) -> None:
        callback, others = self._callback, self._others
        if callback is None and not others:
            return
        self._callback, self._others = None, ()
        outcome = self.outcome
        if outcome is None:
            raise RuntimeError("nothing to tell of a record yet")
        to_call: list[Callable[[], object]] = [*others]
        if callback is not None:
            to_call.insert(0, partial(callback, outcome))
        for function in to_call:
            try:
                function()
            except Exception:  # noqa: BLE001 (the program's own: whatever it raises)
                _LOG.exception("a callback of a record failed")
