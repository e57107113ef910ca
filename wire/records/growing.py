"""The records of a batch that a producer fills, one behind the other, whatever comes in between.

A signal handler may raise between any two steps of who adds a record, Ctrl-C say. Only the encoder
takes one in a single step: what it holds is what there is, and how many these are is made up for
before the next one comes, or the batch is finished.
"""

from __future__ import annotations

from logquake.wire.records.bare_encoder import NO_HEADERS, new_encoder
from logquake.wire.records.reading import Record
from logquake.wire.sentinels import NO_TIMESTAMP


class GrowingPayload:
    """A `Payload` from 0 on, without gaps. ``plain_bytes`` is what the records take, the largest of
    them ``largest_bytes``, ``count`` how many there are, all but for the one that an exception has
    cut off: see `settle`.
    """

    __slots__ = (
        "_added_ms",
        "_adding",
        "_append",
        "_cut",
        "_encoder",
        "base_timestamp",
        "count",
        "largest_bytes",
        "max_timestamp",
        "plain_bytes",
    )

    base_offset = 0

    def __init__(self, limit_bytes: int | None = None) -> None:
        self.base_timestamp: int | None = None
        self.max_timestamp = NO_TIMESTAMP
        self.count = 0
        self.plain_bytes = 0
        self.largest_bytes = 0
        # The record on its way into the encoder: where it will be, -1 for none, and its time.
        self._adding = -1
        self._added_ms = NO_TIMESTAMP
        self._encoder = new_encoder(limit_bytes)
        self._append = self._encoder.append
        self._cut: int = self._encoder.size()

    @property
    def last_offset(self) -> int | None:
        return self.count - 1 if self.count else None

    def size_of_next(self, record: Record) -> int:
        """Bytes that it would add."""
        self.settle()
        _, timestamp_ms, key, value, headers = record
        base = timestamp_ms if self.base_timestamp is None else self.base_timestamp
        named = list(headers) if headers else NO_HEADERS
        size: int = self._encoder.size_in_bytes(self.count, timestamp_ms - base, key, value, named)
        return size

    def try_add(self, record: Record) -> int:
        """``plain_bytes`` then, 0 where there is no room for it. The first one is taken whatever
        its size.
        """
        if self._adding >= 0:
            self.settle()
        _, timestamp_ms, key, value, headers = record
        index = self.count
        base = self.base_timestamp
        if base is None:
            base = timestamp_ms
        named = list(headers) if headers else NO_HEADERS
        self._added_ms = timestamp_ms
        self._adding = index
        added = self._append(index, timestamp_ms - base, key, value, named)
        if added is None:
            self._adding = -1
            return 0
        if timestamp_ms > self.max_timestamp:
            self.max_timestamp = timestamp_ms
        if not index:
            self.base_timestamp = timestamp_ms
        self.count = index + 1
        size: int = added.size
        if size > self.largest_bytes:
            self.largest_bytes = size
        plain_bytes = self.plain_bytes + size
        self.plain_bytes = plain_bytes
        self._adding = -1
        return plain_bytes

    def settle(self) -> None:
        """Count in a record that was cut off on its way, where the encoder has it.

        It may be cut off itself: what has changed last says that it is done.
        """
        index = self._adding
        if index < 0:
            return
        plain_bytes = self._encoder.size() - self._cut
        if plain_bytes != self.plain_bytes:
            self.max_timestamp = max(self.max_timestamp, self._added_ms)
            if not index:
                self.base_timestamp = self._added_ms
            self.count = index + 1
            self.largest_bytes = max(self.largest_bytes, plain_bytes - self.plain_bytes)
            self.plain_bytes = plain_bytes
        self._adding = -1

    def encoded(self) -> memoryview:
        """The records' bytes; nothing can be added any more."""
        return memoryview(self._encoder.build())[self._cut :]
