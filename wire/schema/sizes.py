"""Bounds known before a byte is read: how small an element can be, and what it will cost."""

from __future__ import annotations

from logquake.wire.schema.fields import (
    ArrayOf,
    Field,
    FieldType,
    RecordData,
    Scalar,
    StructOf,
    Text,
)
from logquake.wire.schema.message import Struct

# CPython's sizes, rounded up: a slot of a list, an object's header, a short string, an int.
_POINTER = 8
_OBJECT = 40
_SMALL_VALUE = 56


def has_records(cls: type[Struct], version: int) -> bool:
    """Whether that version of the class or of a struct in it holds record batches."""
    return any(
        _holds_records(field.type, version)
        for field in cls.__schema__.fields.values()
        if version in field.versions
    )


def _holds_records(kind: FieldType, version: int) -> bool:
    if isinstance(kind, ArrayOf):
        return _holds_records(kind.element, version)
    if isinstance(kind, StructOf):
        return has_records(kind.struct, version)
    return isinstance(kind, RecordData)


def smallest_size(kind: FieldType, version: int, flexible: bool) -> int:
    """The least bytes that a value of the type takes, never less than one."""
    if isinstance(kind, Scalar):
        return kind.size
    if isinstance(kind, StructOf):
        fields = kind.struct.__schema__.fields.values()
        sizes = (
            _smallest_field(field, version, flexible)
            for field in fields
            if version in field.versions and field.tag is None
        )
        return max(1, sum(sizes) + flexible)
    if flexible:
        return 1
    return 2 if isinstance(kind, Text) else 4


def _smallest_field(field: Field, version: int, flexible: bool) -> int:
    if isinstance(field.type, StructOf) and version in field.nullable:
        return 1  # a null struct is one byte
    return smallest_size(field.type, version, flexible)


def memory_cost(kind: FieldType) -> int:
    """About how many bytes of memory one array element takes before its content is counted."""
    if isinstance(kind, StructOf):
        fields = kind.struct.__schema__.fields.values()
        return _OBJECT + sum(_POINTER + _field_cost(field.type) for field in fields)
    return _POINTER + _SMALL_VALUE


def _field_cost(kind: FieldType) -> int:
    return memory_cost(kind) if isinstance(kind, StructOf) else _SMALL_VALUE
