"""Batches of magic 2 that go wrong on purpose, most of them under a right length and checksum."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import crc32c

from logquake.wire.compression import Codec, compress
from logquake.wire.records import HEADER_BYTES, BatchHeader, Record, encode_batch, read_header
from logquake.wire.records.layout import HEADER, LENGTH_OVERHEAD
from tests.fuzz.damage import damaged

CODECS = tuple(Codec)
_CRC_END = 21

Fields = dict[str, int]


def damaged_batch(random: Random, now_ms: int) -> bytes:
    """A batch with some of: damaged records, damaged compressed bytes, an odd header."""
    plain = bytes(encode_batch(some_records(random, now_ms)))
    header, body = read_header(memoryview(plain)), plain[HEADER_BYTES:]
    if random.random() < 0.3:
        body = damaged(body, random)
    codec = random.choice(CODECS)
    packed = compress(codec, body)
    if random.random() < 0.05:
        packed = damaged(packed, random)
    header = header._replace(attributes=header.attributes | codec)
    for _ in range(random.choice((0, 0, 1, 1, 2))):
        header = header._replace(**random.choice(ODDITIES)(header, random, now_ms))
    batch = sealed(header, packed)
    return damaged(batch, random) if random.random() < 0.05 else batch


def some_records(random: Random, now_ms: int) -> list[Record]:
    return [
        Record(
            offset,
            now_ms + random.choice((0, 1, -5, 100)),
            random.choice((None, b"", b"key", random.randbytes(70))),
            random.choice((None, b"", random.randbytes(random.randrange(150)))),
            tuple(
                (random.choice(("", "h", "é")), random.choice((None, b"", b"v")))
                for _ in range(random.choice((0, 0, 1, 3)))
            ),
        )
        for offset in range(random.randint(1, 5))
    ]


def sealed(header: BatchHeader, packed: bytes) -> bytes:
    whole = header._replace(batch_length=HEADER_BYTES + len(packed) - LENGTH_OVERHEAD)
    checked = HEADER.pack(*whole)[_CRC_END:] + packed
    return HEADER.pack(*whole._replace(crc=crc32c.crc32c(checked))) + packed


def _int32(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def _attributes(header: BatchHeader, random: Random, _: int) -> Fields:
    return {"attributes": header.attributes ^ (1 << random.randrange(15))}


def _base_offset(_: BatchHeader, random: Random, __: int) -> Fields:
    return {"base_offset": random.choice((1, -1, 7, 2**63 - 1))}


def _leader_epoch(_: BatchHeader, random: Random, __: int) -> Fields:
    return {"partition_leader_epoch": random.choice((0, 5, -2, 2**31 - 1))}


def _count(header: BatchHeader, random: Random, _: int) -> Fields:
    return {"record_count": _int32(header.record_count + random.choice((-1, 1, 100, 2**30)))}


def _count_and_last_offset(header: BatchHeader, random: Random, _: int) -> Fields:
    more = random.choice((-1, 1, 100, 2**30))
    return {
        "record_count": _int32(header.record_count + more),
        "last_offset_delta": _int32(header.last_offset_delta + more),
    }


def _last_offset(header: BatchHeader, random: Random, _: int) -> Fields:
    more = random.choice((-1, 1, 5, 2**30))
    return {"last_offset_delta": _int32(header.last_offset_delta + more)}


def _base_timestamp(_: BatchHeader, random: Random, now_ms: int) -> Fields:
    return {"base_timestamp": random.choice((-1, 0, -2, now_ms - 10**9, now_ms + 10**9, 2**62))}


def _max_timestamp(_: BatchHeader, random: Random, now_ms: int) -> Fields:
    return {"max_timestamp": random.choice((-1, 0, -2, now_ms, 2**63 - 1))}


def _producer(_: BatchHeader, random: Random, __: int) -> Fields:
    return {
        "producer_id": random.choice((-1, 0, 7, 2**62)),
        "producer_epoch": random.choice((-1, 0, 3)),
        "base_sequence": random.choice((-1, 0, 9, 2**31 - 1)),
    }


ODDITIES: tuple[Callable[[BatchHeader, Random, int], Fields], ...] = (
    _attributes,
    _attributes,
    _base_offset,
    _leader_epoch,
    _count,
    _count_and_last_offset,
    _last_offset,
    _base_timestamp,
    _max_timestamp,
    _producer,
)
