"""The outcome of one record (FutureRecordMetadata, RecordMetadata)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

from logquake.client.callbacks import fails_alone
from logquake.client.errors import ClientError
from logquake.wire.errors import ErrorCode
from logquake.wire.records import Record
from logquake.wire.sentinels import NO_TIMESTAMP, UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition

# With these a batch may be in the log all the same: the last two are also told of what fails after
# the append, and UNKNOWN_SERVER_ERROR stands for whatever later brokers say.
FATE_UNKNOWN: Final = frozenset(
    {
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.UNKNOWN_SERVER_ERROR,
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


class Listener(Protocol):
    def tell(self) -> None:
        """It is the batch's turn."""

    def follow(self, results: Results, index: int, /) -> None:
        """Listen to those that tell now of what was at that index of a batch that was split."""


class Results:
    """What became of the records of one batch (ProduceRequestResult).

    Whoever has a record's `Delivery` asks here: a batch knows only of those that somebody wants to
    hear from.
    """

    __slots__ = (
        "_append_time_ms",
        "_base_offset",
        "_error_of",
        "_listening",
        "is_settled",
        "parts",
        "place",
    )

    def __init__(self, place: TopicPartition) -> None:
        self.place = place
        self.is_settled = False
        self.parts: Sequence[tuple[int, Results]] = ()  # of one that was split, by first index
        self._base_offset = UNKNOWN_OFFSET
        self._append_time_ms = NO_TIMESTAMP
        self._error_of: Callable[[int], ClientError] | None = None
        self._listening: dict[int, Listener] = {}

    def written(self, base_offset: int, append_time_ms: int) -> None:
        """``append_time_ms`` is NO_TIMESTAMP where the topic keeps the records' own."""
        self._base_offset = base_offset
        self._append_time_ms = append_time_ms
        self.is_settled = True

    def failed(self, error_of: Callable[[int], ClientError]) -> None:
        """Each record has its own error, by its place in the batch."""
        self._error_of = error_of
        self.is_settled = True

    def was_split(self, parts: Sequence[tuple[int, Results]]) -> None:
        """Others tell what became of its records, by the index of the first of each."""
        self.parts = parts
        for index, delivery in self._listening.items():
            delivery.follow(self, index)

    def of(self, index: int) -> tuple[Results, int]:
        """Who knows of the record at that index, and its index there."""
        for first, results in reversed(self.parts):
            if first <= index:
                return results.of(index - first)
        return self, index

    def error_of(self, index: int) -> ClientError | None:
        return None if self._error_of is None else self._error_of(index)

    def offset_of(self, index: int) -> int:
        return UNKNOWN_OFFSET if self._base_offset == UNKNOWN_OFFSET else self._base_offset + index

    def time_of(self, timestamp_ms: int) -> int:
        return timestamp_ms if self._append_time_ms == NO_TIMESTAMP else self._append_time_ms

    def listen(self, index: int, delivery: Listener) -> None:
        """It is told when it is the batch's turn."""
        self._listening[index] = delivery

    def tell(self) -> None:
        """In the order of the records, all of them, though one of the program's own ends the
        thread, by sys.exit() say.
        """
        listening, self._listening = self._listening, {}
        ends: BaseException | None = None
        for index in sorted(listening):
            try:
                listening[index].tell()
            except BaseException as error:  # noqa: BLE001 - raised once the others were told
                ends = error
        if ends is not None:
            raise ends


class Delivery:
    """One record on its way, by its place in a batch. It has one outcome, once, and tells it in the
    order of asking. Satisfies logquake.client.pending.Pending.

    There is one for each record: what it comes to is worked out for those who ask. A callback that
    raises is logged, and keeps nobody else from being told.
    """

    __slots__ = (
        "_index",
        "_key_bytes",
        "_listeners",
        "_outcome",
        "_results",
        "_timestamp_ms",
        "_value_bytes",
    )

    def __init__(self, results: Results, index: int, record: Record) -> None:
        _, self._timestamp_ms, key, value, _ = record
        self._results = results
        self._index = index
        self._key_bytes = -1 if key is None else len(key)
        self._value_bytes = -1 if value is None else len(value)
        self._listeners: tuple[Callable[[], object], ...] = ()
        self._outcome: Outcome | None = None

    @property
    def is_done(self) -> bool:
        results = self._results
        return results.of(self._index)[0].is_settled if results.parts else results.is_settled

    @property
    def place(self) -> TopicPartition:
        return self._results.place

    @property
    def outcome(self) -> Outcome | None:
        """None until it is done."""
        if self._outcome is None:
            results, index = self._results.of(self._index)
            if results.is_settled:
                self._outcome = results.error_of(index) or self._written(results, index)
        return self._outcome

    def when_done(self, function: Callable[[], object]) -> None:
        if not self._listeners:
            results, index = self._results.of(self._index)
            results.listen(index, self)
        self._listeners += (function,)

    def follow(self, results: Results, index: int) -> None:
        part, at = results.of(index)
        part.listen(at, self)

    def _written(self, results: Results, index: int) -> RecordMetadata:
        return RecordMetadata(
            *results.place,
            results.offset_of(index),
            results.time_of(self._timestamp_ms),
            self._key_bytes,
            self._value_bytes,
        )

    def tell(self) -> None:
        listeners, self._listeners = self._listeners, ()
        for function in listeners:
            try:
                function()
            except BaseException as error:
                if not fails_alone(error):
                    raise
                _LOG.exception("a callback of a record failed")
