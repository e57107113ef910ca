"""Finds the field for which a message could not be written, after the fact.

Compiled encoders check little and say less, since they run for every response. When one refuses,
the message is walked here field by field, and the answer is meant for whoever filled it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from reprlib import repr as short_repr
from typing import Any, NamedTuple

from logquake.wire.schema.fields import (
    ArrayOf,
    Field,
    FieldType,
    RecordData,
    Scalar,
    StructOf,
    Text,
)
from logquake.wire.schema.message import Struct, default_value
from logquake.wire.schema.primitives import MAX_STRING_BYTES


class Fault(NamedTuple):
    """``says`` the path of the field, its value, and why it cannot be carried. ``is_versions`` if
    another version might carry it.
    """

    says: str
    is_versions: bool = False


def first_fault(message: Struct, version: int) -> Fault | None:
    """The first field that the version cannot carry."""
    return next(_faults_of_struct(message, version, ""), None)


def _faults_of_struct(value: Struct, version: int, prefix: str) -> Iterator[Fault]:
    for name, field in value.__schema__.fields.items():
        yield from _faults_of_field(getattr(value, name), field, version, f"{prefix}{name}")


def _faults_of_field(value: Any, field: Field, version: int, path: str) -> Iterator[Fault]:
    if version in field.versions:
        if value is None and version not in field.nullable:
            yield Fault(f"{path}: null where none may be", is_versions=bool(field.nullable))
        yield from _faults(value, field.type, version, path)
    elif not field.ignorable and value != default_value(field):
        says = f"{path} = {short_repr(value)}: this version has no such field"
        yield Fault(says, is_versions=True)


def _faults(value: Any, kind: FieldType, version: int, path: str) -> Iterator[Fault]:
    if value is None:
        return
    match kind:
        case ArrayOf(element=element) if isinstance(value, list | tuple):
            for index, item in enumerate(value):
                if item is None:
                    yield Fault(f"{path}[{index}]: null where none may be")
                yield from _faults(item, element, version, f"{path}[{index}]")
        case StructOf(struct=cls) if isinstance(value, cls):
            yield from _faults_of_struct(value, version, f"{path}.")
        case _:
            reason = _fault_of_value(value, kind)
            if reason is not None:
                yield Fault(f"{path} = {short_repr(value)}: {reason}")


def _fault_of_value(value: Any, kind: FieldType) -> str | None:
    match kind:
        case ArrayOf():
            return "not a list"
        case StructOf(struct=cls):
            return f"not a {cls.__name__}"
        case Text():
            return _fault_of_text(value)
        case Scalar():
            return _fault_of_scalar(value, kind)
        case RecordData():
            return (
                None if hasattr(value, "__len__") and not isinstance(value, str) else "not records"
            )
        case _:
            return None if isinstance(value, bytes | bytearray | memoryview) else "not bytes"


def _fault_of_text(value: Any) -> str | None:
    if not isinstance(value, str):
        return "not a string"
    try:
        size = len(value.encode())
    except UnicodeEncodeError as error:
        return str(error)
    return f"{size} bytes, more than {MAX_STRING_BYTES}" if size > MAX_STRING_BYTES else None


def _fault_of_scalar(value: Any, kind: Scalar[Any]) -> str | None:
    if kind.code == "?":
        return None if value in (True, False) else "neither true nor false"
    if kind.code == "16s":
        return None if isinstance(value, bytes) and len(value) == kind.size else "not 16 bytes"
    try:
        struct.pack(f">{kind.code}", value)
    except struct.error as error:
        return str(error)
    return None
