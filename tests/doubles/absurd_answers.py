"""What a broker might say that is well-formed, and cannot be: numbers at their ends, names of
others, what was asked about left out or told twice, records with a right checksum and offsets that
go back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any

from logquake.wire.crc import crc32c
from logquake.wire.records.header import read_header
from logquake.wire.records.layout import HEADER, HEADER_BYTES
from logquake.wire.schema import Message, decode, encode
from logquake.wire.schema.fields import ArrayOf, Binary, Scalar, StructOf, Text

_NAMES = ("", "t", "u", "g", "nowhere", "one", "a" * 70, "\0")
_NUMBERS = (-1, -2, 0, 1, 2, 5)
_CRC = slice(17, 21)
_WISHES = ("throttle_time_ms",)  # whoever wants to be left alone for a month is

Change = Callable[[Random], None]


def absurd(said: Message, version: int, random: Random) -> Message:
    """As it was said, but for one to three places; its version can carry it."""
    for _ in range(10):
        answer = decode(type(said), version, encode(said, version))
        for _ in range(random.randint(1, 3)):
            random.choice(list(_changes(answer, version)))(random)
        try:
            encode(answer, version)
        except ValueError:
            continue
        return answer
    return said


def _changes(holder: Any, version: int) -> Iterator[Change]:
    """Of whatever is in it, at any depth."""
    for name, field in holder.__schema__.fields.items():
        if version in field.versions and name not in _WISHES:
            value = getattr(holder, name)
            yield partial(_change, holder, name, field.type, value)
            yield from _changes_within(value, field.type, version)


def _change(holder: Any, name: str, kind: Any, value: Any, random: Random) -> None:
    setattr(holder, name, _other(kind, value, random))


def _changes_within(value: Any, kind: Any, version: int) -> Iterator[Change]:
    """A struct by itself is made anew, since it may be a default that is shared."""
    if isinstance(kind, ArrayOf) and isinstance(kind.element, StructOf):
        for each in value or ():
            yield from _changes(each, version)


def _other(kind: Any, value: Any, random: Random) -> Any:
    if isinstance(kind, Scalar):
        return _number(kind, random)
    if isinstance(kind, Text):
        return random.choice((*_NAMES, None))
    if isinstance(kind, ArrayOf):
        return _rearranged(list(value or ()), random)
    if isinstance(kind, StructOf):
        fields = kind.struct.__schema__.fields.items()
        return kind.struct(**{name: _other(of.type, of.default, random) for name, of in fields})
    if isinstance(kind, Binary):
        return bytes(value or b"")[: random.randrange(1 + len(value or b""))] + random.randbytes(2)
    if isinstance(value, memoryview) and len(value) > HEADER_BYTES:
        return memoryview(_batch(bytes(value), random))
    return value


def _number(kind: Scalar[Any], random: Random) -> Any:
    if kind.code == "?":
        return random.random() < 0.5
    if kind.code == "d":
        return random.choice((float("nan"), -1.0, 1e300))
    if kind.code.endswith("s"):
        return random.choice((bytes(kind.size), random.randbytes(kind.size)))
    end = 1 << (8 * kind.size - 1)
    return random.choice((*_NUMBERS, end - 1, end - 2, -end, random.randrange(-end, end)))


def _rearranged(values: list[Any], random: Random) -> list[Any]:
    match random.randrange(3):
        case 0:
            return values[1:]
        case 1:
            return values + values
    return []


def _batch(stored: bytes, random: Random) -> bytes:
    """The first one, with a checksum that fits."""
    header = read_header(memoryview(stored))
    rest = stored[header.size :]
    fields = ("base_offset", "last_offset_delta", "record_count", "max_timestamp", "producer_id")
    name = random.choice(fields)
    size = 4 if name in ("last_offset_delta", "record_count") else 8
    end = 1 << (8 * size - 1)
    number = random.choice((*_NUMBERS, end - 1, end - 2, -end))
    records = bytearray(stored[HEADER_BYTES : header.size])
    if random.random() < 0.5:
        records[random.randrange(len(records))] = random.randrange(256)
    changed = bytearray(HEADER.pack(*header._replace(**{name: number})) + records)
    changed[_CRC] = crc32c(changed[_CRC.stop :]).to_bytes(4)
    return bytes(changed) + rest
