"""Runs of records that the caller encodes, many at a time, instead of one by one.

The size of a record depends on its place in a batch, and so on how full the batch is when it comes:
rows encode as much as there is room for, and may store records as they like.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol, TypeAlias

from logquake.client.callbacks import fails_alone
from logquake.client.producer.delivery import Results
from logquake.client.producer.filling import Form
from logquake.client.producer.ratios import MARGIN
from logquake.wire.compression import Codec
from logquake.wire.records import HEADER_BYTES, Record
from logquake.wire.sentinels import NO_TIMESTAMP

OnFailure: TypeAlias = Callable[[Exception], object]
"""Called with the error of a run's records, once for each batch that has some."""

_LOG = logging.getLogger(__name__)


class Room(NamedTuple):
    """The room left in a batch: a record fits if ``plain_bytes`` times ``ratio``, plus that record
    uncompressed, is at most ``limit_bytes``. The first record always fits.
    """

    next_index: int  # of the next record
    base_timestamp_ms: int | None  # the first record's; None before there is one
    plain_bytes: int  # of the records already in it
    limit_bytes: int  # without the batch's header
    ratio: float  # estimated, compressed by uncompressed bytes; 1 without compression


class Piece(NamedTuple):
    """Concatenated records of magic 2, uncompressed; timestamps are None if there are none."""

    encoded: bytes | memoryview
    record_count: int
    first_timestamp_ms: int = NO_TIMESTAMP
    max_timestamp_ms: int = NO_TIMESTAMP


class Run(Protocol):
    """Records of one partition, in order. Taken records are removed."""

    @property
    def left(self) -> int:
        """The number of remaining records."""

    @property
    def next_bytes(self) -> int:
        """The maximum size of a batch of the next record alone, like `size_bound`."""

    def take(self, room: Room) -> Piece:
        """Take as many as there is room for, maybe none."""


class Rows(Protocol):
    """Records of one topic."""

    @property
    def largest_bytes(self) -> int:
        """The size of a batch of the largest record alone, like `Run.next_bytes`."""

    @property
    def largest_partition(self) -> int | None:
        """The largest partition that rows name; None if they name none."""

    def by_partition(
        self, partition_count: int | None, now_ms: int
    ) -> Sequence[tuple[int | None, Run]]:
        """By the partition that a row names, else that of its key, given the number of partitions
        (None ignores keys), else None for any. ``now_ms`` is the default timestamp.
        """


class _Held(NamedTuple):
    """A piece, and the totals up to and including it."""

    encoded: bytes | memoryview
    record_count: int
    plain_bytes: int
    largest_bytes: int
    base_timestamp: int | None
    max_timestamp: int


_NOTHING = _Held(b"", 0, 0, 0, None, NO_TIMESTAMP)


class RunFilling:
    """For a batch of runs, as `Filling` is for one of records: neither accepts the other's items.

    A piece is added in one step, so an interrupt such as Ctrl-C leaves the batch consistent.
    """

    base_offset = 0

    def __init__(self, form: Form) -> None:
        self.is_full = False
        self._form = form
        self._ratio = 1.0 if form.codec is Codec.NONE else form.estimated_ratio * MARGIN
        self._held = [_NOTHING]

    @property
    def count(self) -> int:
        """Of records."""
        return self._held[-1].record_count

    @property
    def plain_bytes(self) -> int:
        """Of the records."""
        return self._held[-1].plain_bytes

    @property
    def largest_bytes(self) -> int:
        """The size of the largest record, estimated: for a piece, the average size of its
        records.
        """
        return self._held[-1].largest_bytes

    @property
    def estimated_bytes(self) -> int:
        return HEADER_BYTES + int(self.plain_bytes * self._ratio)

    @property
    def base_timestamp(self) -> int | None:
        return self._held[-1].base_timestamp

    @property
    def max_timestamp(self) -> int:
        return self._held[-1].max_timestamp

    @property
    def last_offset(self) -> int | None:
        return self.count - 1 if self.count else None

    def try_add(self, _record: Record) -> int:
        self.is_full = True
        return -1

    def take(self, run: Run) -> int:
        """Returns how many of its records fit; if some are left, the batch is closed."""
        if self.is_full:
            return 0
        piece = run.take(self._room())
        if piece.record_count:
            self._hold(piece)
        if run.left or self.estimated_bytes >= self._form.limit_bytes:
            self.is_full = True
        return piece.record_count

    def _room(self) -> Room:
        limit_bytes = self._form.limit_bytes - HEADER_BYTES
        return Room(self.count, self.base_timestamp, self.plain_bytes, limit_bytes, self._ratio)

    def _hold(self, piece: Piece) -> None:
        _, count, plain_bytes, largest_bytes, base_timestamp, max_timestamp = self._held[-1]
        self._held.append(
            _Held(
                piece.encoded,
                count + piece.record_count,
                plain_bytes + len(piece.encoded),
                max(largest_bytes, len(piece.encoded) // piece.record_count),
                base_timestamp if count else piece.first_timestamp_ms,
                max(max_timestamp, piece.max_timestamp_ms),
            )
        )

    def encoded(self) -> bytes:
        """The records' bytes."""
        return b"".join(held.encoded for held in self._held)

    def finish(self, producer_id: int, producer_epoch: int, base_sequence: int) -> bytearray:
        """The batch as it is sent, magic 2."""
        return self._form.finish(self, producer_id, producer_epoch, base_sequence)


class RunDelivery:
    """A run's records in one batch, or in the parts into which it is split. A callback's exception
    is logged.
    """

    def __init__(self, results: Results, index: int, count: int) -> None:
        self._results = results
        self._index = index
        self._count = count
        self._on_failure: OnFailure | None = None

    def when_failed(self, function: OnFailure) -> None:
        """If the batch was split meanwhile, register with each part."""
        self._on_failure = function
        if self._results.parts:
            self.follow(self._results, self._index)
        else:
            self._results.listen(self._index, self)

    def follow(self, results: Results, index: int) -> None:
        """The batch was split: the records are in one or more of the parts."""
        behind = index + self._count
        places = [first for first, _ in results.parts] + [behind]
        for (first, end), (_, part) in zip(pairwise(places), results.parts, strict=True):
            begin, last = max(first, index), min(end, behind)
            if begin < last and self._on_failure is not None:
                delivery = RunDelivery(part, begin - first, last - begin)
                delivery.when_failed(self._on_failure)

    def tell(self) -> None:
        error = self._results.error_of(self._index)
        if error is None or self._on_failure is None:
            return
        try:
            self._on_failure(error)
        except BaseException as raised:
            if not fails_alone(raised):
                raise
            _LOG.exception("a callback of records failed")
