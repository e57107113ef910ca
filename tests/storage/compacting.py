"""Logs to be compacted, one cleaning from its plan to its end, and what is left."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from logquake.storage.cleaner.cleaning import Finished, Replacement
from logquake.storage.cleaner.plan import CleanerBounds
from logquake.storage.cleaner.statistics import CleanerStats
from logquake.storage.log.log import Log
from logquake.wire.records import (
    BatchFlag,
    BatchHeader,
    Codec,
    ControlType,
    Record,
    encode_batch,
    encode_end_marker,
    encode_message_set,
    iterate_batches,
    iterate_records,
)

LIMIT_BYTES = 1_000_000
IDEMPOTENT = 7
TRANSACTIONAL = (20, 21)
SMALL = CleanerBounds(dedupe_bytes=1 << 20, io_bytes=700)


def clean(
    log: Log,
    now_ms: int,
    bounds: CleanerBounds = SMALL,
    between_slices: Callable[[], None] = lambda: None,
) -> CleanerStats:
    """Compact what lies below the active segment, whether due or not."""
    log.sync()
    to_clean = log.cleaning.assess(log.written_end_offset, now_ms)
    cleaning = log.cleaning.begin(to_clean, bounds, now_ms)
    while not isinstance(step := cleaning.work(), Finished):
        if isinstance(step, Replacement):
            log.cleaning.swap(cleaning, step).remove()
        between_slices()
    log.cleaning.cleaned_to = step.end_offset
    return cleaning.stats


def batches_of(log: Log, start: int = 0) -> list[bytes]:
    """Every batch, read as a consumer reads."""
    found = []
    while start < log.end_offset:
        view = memoryview(log.read(start, LIMIT_BYTES, up_to=log.end_offset).read())
        if not view:  # the log ends with a gap
            break
        for position, header in iterate_batches(view):
            found.append(bytes(view[position : position + header.size]))
            start = header.next_offset
    return found


def records_in(batch: bytes) -> list[Record]:
    view = memoryview(batch)
    ((_, header),) = iterate_batches(view)
    return list(iterate_records(view, 0, header, LIMIT_BYTES))


def records_of(log: Log) -> list[Record]:
    return [record for batch in batches_of(log) for record in records_in(batch)]


def stored_batches(path: Path) -> list[bytes]:
    view = memoryview(path.read_bytes())
    return [bytes(view[at : at + header.size]) for at, header in iterate_batches(view)]


class Producers:
    """Batches as a leader stores them: of anyone, of an idempotent producer, in transactions.

    ``codecs`` and ``magics`` are drawn from for each; markers end what was begun.
    """

    def __init__(
        self, rng: random.Random, codecs: Sequence[Codec], magics: Sequence[int] = (2,)
    ) -> None:
        self._rng = rng
        self._codecs = codecs
        self._magics = magics
        self._sequences = dict.fromkeys((IDEMPOTENT, *TRANSACTIONAL), 0)
        self._open: set[int] = set()
        self.next_offset = 0
        self.now_ms = 1_700_000_000_000

    def batches(self, count: int) -> Iterator[bytes]:
        for _ in range(count):
            yield self.batch()
        for producer_id in sorted(self._open):
            yield self._end(producer_id)

    def batch(self) -> bytes:
        rng = self._rng
        self.now_ms += rng.randint(0, 20)
        magic = rng.choice(self._magics)
        if magic < 2:
            return self._message_set(magic)
        writer = rng.choice((-1, IDEMPOTENT, *TRANSACTIONAL))
        if writer in self._open and rng.random() < 0.4:
            return self._end(writer)
        return self._records(writer)

    def _records(self, writer: int) -> bytes:
        records = self._draw()
        is_transactional = writer in TRANSACTIONAL
        if is_transactional:
            self._open.add(writer)
        sequence = self._sequences.get(writer, -1)
        if writer >= 0:
            self._sequences[writer] += len(records)
        return bytes(
            encode_batch(
                records,
                codec=self._rng.choice(self._codecs),
                base_offset=records[0].offset,
                leader_epoch=0,
                producer_id=writer,
                producer_epoch=0 if writer >= 0 else -1,
                base_sequence=sequence,
                flags=BatchFlag.TRANSACTIONAL if is_transactional else 0,
            )
        )

    def _message_set(self, magic: int) -> bytes:
        codec = self._rng.choice([codec for codec in self._codecs if codec is not Codec.ZSTD])
        if magic == 0 and codec is Codec.LZ4:
            codec = Codec.NONE
        records = self._draw()
        if codec is Codec.NONE:  # one entry is a batch of its own
            self.next_offset -= len(records) - 1
            records = records[:1]
        return encode_message_set(records, magic, codec=codec)

    def _draw(self) -> list[Record]:
        rng = self._rng
        records = []
        for _ in range(rng.randint(1, 4)):
            key = f"key-{rng.randint(0, 14)}".encode()
            value = None if rng.random() < 0.25 else f"value {self.next_offset}".encode()
            records.append(Record(self.next_offset, self.now_ms + rng.randint(0, 5), key, value))
            self.next_offset += 1
        return records

    def _end(self, producer_id: int) -> bytes:
        self._open.discard(producer_id)
        offset, self.next_offset = self.next_offset, self.next_offset + 1
        return bytes(
            encode_end_marker(
                self._rng.choice(tuple(ControlType)),
                coordinator_epoch=0,
                producer_id=producer_id,
                producer_epoch=0,
                timestamp_ms=self.now_ms,
                base_offset=offset,
                leader_epoch=0,
            )
        )


def append(log: Log, batches: Iterator[bytes] | Sequence[bytes]) -> None:
    for batch in batches:
        log.stage_as_follower(memoryview(bytearray(batch)))
        log.commit()


def header_of(batch: bytes) -> BatchHeader:
    ((_, header),) = iterate_batches(memoryview(batch))
    return header
