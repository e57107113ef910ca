"""Record batches as a producer makes them: text in the values, so that codecs have work to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from random import Random

from logquake.wire.compression import Codec
from logquake.wire.records import Record, encode_batch

KIB, MB = 1024, 10**6
BATCH_BYTES = 16 * KIB  # batch.size of Kafka's producer, which counts before compression
SMALL_RECORD_BYTES = 100

_FIRST_MS = 1_700_000_000_000
_RECORD_OVERHEAD_BYTES = 10  # lengths, deltas, attributes
_VOCABULARY = 500
_TEXT_WORDS = 100_000
_PRODUCER_ID = 1


@dataclass(frozen=True, slots=True)
class Shape:
    """Batches of so many bytes before compression, filled with values of one size."""

    value_bytes: int = KIB
    codec: Codec = Codec.NONE
    batch_bytes: int = BATCH_BYTES

    @property
    def name(self) -> str:
        return f"{_size_text(self.value_bytes)} records, {self.codec.name.lower()}"

    @property
    def records(self) -> int:
        """In a batch."""
        return self.batch_bytes // (self.value_bytes + _RECORD_OVERHEAD_BYTES)


def produced(shape: Shape, count: int) -> list[bytes]:
    """What an idempotent producer sends: base offsets 0, sequences that go on."""
    values = _values(shape.value_bytes)
    return [
        bytes(
            encode_batch(
                [
                    Record(place, _FIRST_MS + number, None, next(values))
                    for place in range(shape.records)
                ],
                codec=shape.codec,
                producer_id=_PRODUCER_ID,
                producer_epoch=0,
                base_sequence=number * shape.records,
            )
        )
        for number in range(count)
    ]


def stored(
    shape: Shape, count: int, *, keys: Sequence[bytes] = (), first_offset: int = 0
) -> Iterator[bytes]:
    """What a log holds: offsets that go on, one ms a batch. Keys, if any, are taken in turn."""
    values = _values(shape.value_bytes)
    keys_left = iter(keys)
    for number in range(count):
        base_offset = first_offset + number * shape.records
        chosen: list[bytes | None] = list(islice(keys_left, shape.records))
        chosen = chosen or [None] * shape.records
        records = [
            Record(base_offset + place, timestamp_of(number), key, next(values))
            for place, key in enumerate(chosen)
        ]
        yield bytes(
            encode_batch(records, codec=shape.codec, base_offset=base_offset, leader_epoch=0)
        )


def timestamp_of(number: int) -> int:
    """Of every record in a stored log's batch of that number, in ms."""
    return _FIRST_MS + number


def _values(size: int) -> Iterator[bytes]:
    """Pieces of the text; always the same ones."""
    text, random = _text(), Random(size)
    while True:
        start = random.randrange(len(text) - size)
        yield text[start : start + size]


@cache
def _text() -> bytes:
    """Random words, of which a batch holds each a few times."""
    random = Random(_VOCABULARY)
    words = [random.randbytes(random.randint(2, 6)).hex().encode() for _ in range(_VOCABULARY)]
    return b" ".join(random.choices(words, k=_TEXT_WORDS))


def _size_text(size: int) -> str:
    return f"{size // KIB} KiB" if size % KIB == 0 else f"{size} B"
