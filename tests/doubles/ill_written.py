"""A message as no class of ours would write it: null where there must be something, counts and
lengths that are not so, text that is none, what is told hundreds of times, tags that are unknown,
told twice or too long, error codes that nobody knows.

Unlike bytes that are damaged at random each of these is in a place of its meaning, and what stands
around it is whole. Without any it is the message itself, byte for byte.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from random import Random
from typing import Any

from logquake.wire.schema import Message, Struct
from logquake.wire.schema.fields import ArrayOf, Field, FieldType, Scalar, StructOf, Text
from logquake.wire.schema.message import default_value
from logquake.wire.schema.primitives import write_uvarint

MOST_AT_ONCE = 3
_OFTEN = 500
_TEXTS = (b"", b"\xff\xfe", b"\0", b"..", b"x" * 10_240, b"x" * 32_767)
_LENGTHS = {"h": (-2, 100, 32_767), "i": (-2, 10_000, 65_536, 2**31 - 2)}
_CODES = (-1, 9_999, -32_768, 32_767)
_TAG = 99


def written(message: Message, version: int) -> bytes:
    """The body of a response or request, as it is."""
    return _Writer(version, version in message.__schema__.flexible).struct(message)


def ill_written(message: Message, version: int, random: Random) -> bytes:
    """The same with one to three lies."""
    is_flexible = version in message.__schema__.flexible
    whole = _Writer(version, is_flexible)
    whole.struct(message)
    wanted = min(random.randint(1, MOST_AT_ONCE), whole.places)
    lies = frozenset(random.sample(range(whole.places), wanted))
    return _Writer(version, is_flexible, random, lies).struct(message)


@dataclass
class _Writer:
    """``lies`` are places to lie at, as they are counted while it writes."""

    version: int
    is_flexible: bool
    random: Random = field(default_factory=Random)
    lies: frozenset[int] = frozenset()
    places: int = 0

    def struct(self, holder: Struct) -> bytes:
        written = b""
        tags: list[bytes] = []
        for name, of in holder.__schema__.fields.items():
            if self.version in of.versions and of.tag is None:
                written += self._field(getattr(holder, name), of, name)
        if not self.is_flexible:
            return written
        for name, of in _tagged(holder, self.version):
            value, is_lie = getattr(holder, name), self._lies_here()
            if value != default_value(of) or is_lie:
                body = self._field(value, of, name)
                tags.append(write_uvarint(of.tag or 0) + write_uvarint(len(body)) + body)
        return written + self._tags(tags)

    def _field(self, value: Any, of: Field, name: str) -> bytes:
        """Of a struct that may be null a byte says whether it is."""
        if not isinstance(of.type, StructOf) or self.version not in of.nullable:
            return self._value(value, of.type, name)
        if value is None or self._lies_here():
            return b"\0" if of.tag is not None else b"\xff"
        return b"\x01" + self.struct(value)

    def _lies_here(self) -> bool:
        self.places += 1
        return self.places - 1 in self.lies

    def _tags(self, tags: list[bytes]) -> bytes:
        if self._lies_here():
            unknown = write_uvarint(_TAG) + b"\x03abc"
            endless = write_uvarint(_TAG) + write_uvarint(2**31 - 1)
            tags = self.random.choice(([*tags, unknown], tags * 2, [*tags, endless], [b"\xff" * 6]))
        return write_uvarint(len(tags)) + b"".join(tags)

    def _value(self, value: Any, kind: FieldType, name: str) -> bytes:
        if isinstance(kind, StructOf):
            return self.struct(kind.struct() if value is None else value)
        is_lie = self._lies_here()
        if isinstance(kind, Scalar):
            packed = struct.pack(f">{kind.code}", value)
            return self._other_number(packed, kind, name) if is_lie else packed
        if isinstance(kind, ArrayOf):
            return self._array(value, kind.element, name, is_lie=is_lie)
        code = "h" if isinstance(kind, Text) else "i"
        content = value.encode() if isinstance(value, str) else value
        if not is_lie:
            return self._counted(content, code)
        if not self.random.randrange(3):
            return self._length(self.random.choice(_LENGTHS[code]), code) + bytes(content or b"")
        others = _TEXTS if code == "h" else (b"", self.random.randbytes(60))
        return self._counted(self.random.choice((None, *others)), code)

    def _counted(self, content: bytes | None, code: str) -> bytes:
        size = -1 if content is None else len(content)
        return self._length(size, code) + bytes(content or b"")

    def _length(self, length: int, code: str) -> bytes:
        if self.is_flexible:
            return write_uvarint((length + 1) % 2**32)
        return struct.pack(f">{code}", length)

    def _array(self, value: Any, element: FieldType, name: str, *, is_lie: bool) -> bytes:
        items = [self._value(each, element, name) for each in value or ()]
        count = None
        if is_lie:
            value = items = self.random.choice(
                (items * _OFTEN, items * 2, items[::-1], items[1:], [])
            )
            count = self.random.choice((None, None, None, -1, *_LENGTHS["i"]))
        told = count or (-1 if value is None else len(items))
        return self._length(told, "i") + b"".join(items)

    def _other_number(self, packed: bytes, kind: Scalar[Any], name: str) -> bytes:
        random = self.random
        if kind.code == "?":
            return bytes([not packed[0]])
        if kind.code == "d":
            return struct.pack(">d", random.choice((float("nan"), float("inf"), -1.0, 5e-324)))
        if name == "error_code":
            return struct.pack(">h", random.choice((*_CODES, random.randrange(1, 130))))
        if name == "throttle_time_ms":  # who is told to wait for weeks waits
            return struct.pack(">i", random.choice((-1, -(2**31), 5)))
        return random.choice((bytes(kind.size), b"\xff" * kind.size, random.randbytes(kind.size)))


def _tagged(holder: Struct, version: int) -> list[tuple[str, Field]]:
    """By their tags."""
    fields = holder.__schema__.fields.items()
    tagged = [(name, of) for name, of in fields if version in of.versions and of.tag is not None]
    return sorted(tagged, key=lambda each: each[1].tag or 0)
