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

# With these errors a batch may be in the log nevertheless: the last two also occur after the
# append, and UNKNOWN_SERVER_ERROR stands for any error that newer brokers have.
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
    """Where a record is. The offset is UNKNOWN_OFFSET after acks=0, or if the broker recognized a
    duplicate; sizes are -1 for None.
    """

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key_bytes: int
    value_bytes: int


def nowhere(place: TopicPartition) -> RecordMetadata:
    """The destination of a record that was not written: partition -1 for any."""
    return RecordMetadata(*place, UNKNOWN_OFFSET, NO_TIMESTAMP, -1, -1)


Outcome = RecordMetadata | ClientError
"""Errors are passed as values; whoever waits for the result raises them."""


class Listener(Protocol):
    def tell(self) -> None:
        """Run the callbacks: it is the batch's turn."""

    def follow(self, results: Results, index: int, /) -> None:
        """Listen to the results that now have the record at that index of a split batch."""


class Results:
    """The outcomes of one batch's records (ProduceRequestResult).

    Each record's `Delivery` looks its outcome up here: a batch knows only the deliveries that have
    callbacks.
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
        self.parts: Sequence[tuple[int, Results]] = ()  # parts of a split batch, by first index
        self._base_offset = UNKNOWN_OFFSET
        self._append_time_ms = NO_TIMESTAMP
        self._error_of: Callable[[int], ClientError] | None = None
        self._listening: dict[int, Listener] = {}

    def written(self, base_offset: int, append_time_ms: int) -> None:
        """``append_time_ms`` is NO_TIMESTAMP if the topic keeps the records' timestamps."""
        self._base_offset = base_offset
        self._append_time_ms = append_time_ms
        self.is_settled = True

    def failed(self, error_of: Callable[[int], ClientError]) -> None:
        """Errors are by the record's index in the batch."""
        self._error_of = error_of
        self.is_settled = True

    def was_split(self, parts: Sequence[tuple[int, Results]]) -> None:
        """The outcomes are in the parts' results, by the index of each part's first record."""
        self.parts = parts
        for index, delivery in self._listening.items():
            delivery.follow(self, index)

    def of(self, index: int) -> tuple[Results, int]:
        """The results that have the record at that index, and its index there."""
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
        """Register the listener, to be called when it is the batch's turn."""
        self._listening[index] = delivery

    def tell(self) -> None:
        """Run all callbacks in the order of the records, even if one of the program's ends the
        thread, by sys.exit() for instance.
        """
        listening, self._listening = self._listening, {}
        ends: BaseException | None = None
        for index in sorted(listening):
            try:
                listening[index].tell()
            except BaseException as error:  # noqa: BLE001 - raised once the others have run
                ends = error
        if ends is not None:
            raise ends


class Delivery:
    """One record in flight, by its index in a batch. It gets exactly one outcome, and calls its
    callbacks in order of registration. Satisfies logquake.client.pending.Pending.

    There is one for each record, so the outcome is computed on demand. A callback's exception is
    logged, and does not stop other callbacks.
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
