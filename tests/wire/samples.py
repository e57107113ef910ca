"""Messages of any class and version whose fields take every kind of value, seeded.

Per class and version: the defaults; everything filled, with nothing left at its default, so that
every tagged field is written; every null that may be, and everything empty, at every depth; the
extremes of numbers, and lengths that take a varint of two bytes; and mixtures of these. What every
field really takes is checked in test_samples.py.

``narrow`` may choose the values of fields of a name, for an implementation that takes fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from random import Random
from typing import Any

from logquake.wire.schema import Message, Struct
from logquake.wire.schema.fields import (
    ArrayOf,
    Binary,
    Field,
    FieldType,
    RecordData,
    Scalar,
    StructOf,
    Text,
)
from logquake.wire.schema.message import default_value

INTEGER_BITS = {"b": 8, "h": 16, "i": 32, "q": 64}
LETTERS = "abcXYZ019-._ é☃😀\0"
LONG = 130  # the first length past 127 is where a varint grows

Chooser = Callable[[Random], Any]
Narrow = Callable[[str], Chooser | None]


class Manner(Enum):
    FILLED = auto()
    NULL = auto()
    EMPTY = auto()
    EXTREME = auto()
    MIXED = auto()


ONCE = (Manner.FILLED, Manner.EXTREME, Manner.MIXED, Manner.MIXED)
AT_EVERY_DEPTH = (Manner.NULL, Manner.EMPTY)  # above it, what is null or empty would hide the rest


class Samples:
    """Makes messages; the same ones for the same seed."""

    def __init__(self, seed: object, narrow: Narrow = lambda _: None) -> None:
        self._random = Random(str(seed))
        self._narrow = narrow

    def of(self, cls: type[Message], version: int) -> Iterator[Message]:
        """The message of defaults, and one of every manner."""
        yield cls()
        for manner in ONCE:
            yield self.message(cls, version, manner)
        for manner in AT_EVERY_DEPTH:
            for depth in range(_depth(cls, version)):
                yield self.message(cls, version, manner, depth)

    def singles(self, cls: type[Struct], version: int) -> Iterator[Any]:
        """Messages of defaults but for one field, at any depth."""
        for name, field in _present(cls, version).items():
            if version in field.nullable and field.default is not None:
                yield cls(**{name: None})
            for value in self._other_values(name, field, version):
                yield cls(**{name: value})

    def message(self, cls: type[Struct], version: int, manner: Manner, depth: int = 0) -> Any:
        """In that manner from a depth of structs on, and filled above."""
        here = Manner.FILLED if depth else manner
        values = {}
        for name, field in _present(cls, version).items():
            inner = _struct_in(field.type)
            if depth and inner is not None:
                values[name] = self._nested(field.type, inner, version, manner, depth - 1)
            else:
                values[name] = self._field(name, field, version, here)
        return cls(**values)

    def _nested(
        self, kind: FieldType, struct: type[Struct], version: int, manner: Manner, depth: int
    ) -> Any:
        inner = self.message(struct, version, manner, depth)
        return [inner] if isinstance(kind, ArrayOf) else inner

    def _other_values(self, name: str, field: Field, version: int) -> Iterator[Any]:
        match field.type:
            case StructOf(struct=struct):
                yield from self.singles(struct, version)
            case ArrayOf(element=StructOf(struct=struct)):
                yield [struct()]
                for inner in self.singles(struct, version):
                    yield [inner]
            case _:
                yield self._field(name, field, version, Manner.FILLED)

    def _field(self, name: str, field: Field, version: int, manner: Manner) -> Any:
        if manner is Manner.MIXED:
            manner = self._random.choice(list(Manner))
        if manner is Manner.NULL and version in field.nullable:
            return None
        chooser = self._narrow(name)
        if chooser is not None and isinstance(field.type, Scalar):
            return chooser(self._random)
        for _ in range(20):
            value = self._value(field.type, version, manner)
            if manner is not Manner.FILLED or value != default_value(field):
                return value
        raise AssertionError(f"{name} took its default twenty times")

    def _value(self, kind: FieldType, version: int, manner: Manner) -> Any:
        match kind:
            case Text():
                return "".join(self._random.choices(LETTERS, k=self._length(manner)))
            case Binary() | RecordData():
                return self._random.randbytes(self._length(manner))
            case ArrayOf(element=element):
                return [self._value(element, version, manner) for _ in self._count(kind, manner)]
            case StructOf(struct=struct):
                return self.message(struct, version, manner)
        return self._scalar(kind, manner)

    def _length(self, manner: Manner) -> int:
        if manner is Manner.EMPTY:
            return 0
        return LONG if manner is Manner.EXTREME else self._random.randint(1, 9)

    def _count(self, kind: ArrayOf, manner: Manner) -> range:
        if manner is Manner.EMPTY:
            return range(0)
        if manner is Manner.EXTREME and not isinstance(kind.element, StructOf):
            return range(LONG)
        return range(self._random.randint(1, 2))

    def _scalar(self, kind: Scalar[Any], manner: Manner) -> Any:
        match kind.code:
            case "?":
                return manner is not Manner.EMPTY and self._random.random() < 0.5
            case "d":
                return self._random.choice([1e300, -0.25, 5e-324, 3.0])
            case "16s":
                return bytes(16) if manner is Manner.EMPTY else self._random.randbytes(16)
            case "H":
                return self._random.choice([0, 0xFFFF, self._random.randrange(1 << 16)])
        limit = 1 << (INTEGER_BITS[kind.code] - 1)
        if manner is Manner.EXTREME:
            return self._random.choice([-limit, limit - 1])
        if manner is Manner.EMPTY:
            return 0
        return self._random.randrange(-limit, limit)


def _struct_in(kind: FieldType) -> type[Struct] | None:
    inner = kind.element if isinstance(kind, ArrayOf) else kind
    return inner.struct if isinstance(inner, StructOf) else None


def _depth(cls: type[Struct], version: int) -> int:
    """How many structs lie in each other, itself included."""
    inner = (_struct_in(field.type) for field in _present(cls, version).values())
    return 1 + max((_depth(struct, version) for struct in inner if struct is not None), default=0)


def _present(cls: type[Struct], version: int) -> dict[str, Field]:
    fields = cls.__schema__.fields.items()
    return {name: field for name, field in fields if version in field.versions}
