"""Tagged fields that this version of Kafka does not know, in every struct of every message.

A later Kafka may add tagged fields to any struct of any flexible version without a new version
(KIP-482). Here every class gets a later self, with two tagged fields more in each of its structs;
what the later self writes, the class must read, as if they were not there.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from logquake.wire.schema import Message, Struct, binary, decode, encode, string
from logquake.wire.schema.fields import ArrayOf, FieldType, StructOf
from logquake.wire.schema.message import StructType
from tests.wire.samples import Samples
from tests.wire.tables import MESSAGE_TYPES

FLEXIBLE = {name: cls for name, cls in MESSAGE_TYPES.items() if cls.__schema__.flexible}
UNKNOWN_TAGS = (60, 70_000)  # of one byte, and of three


@pytest.mark.parametrize("cls", FLEXIBLE.values(), ids=FLEXIBLE)
def test_unknown_tagged_fields_are_skipped(cls: type[Message]) -> None:
    schema = cls.__schema__
    for version in (v for v in schema.versions if v in schema.flexible):
        for message in Samples(cls.__name__).of(cls, version):
            known, written = encode(message, version), encode(later(message, version), version)
            assert len(written) >= len(known) + 150
            assert decode(cls, version, written) == message


@cache
def later_self(cls: type[Struct]) -> Any:
    added: dict[str, Any] = {
        "unknown_text": string(tag=UNKNOWN_TAGS[0]),
        "unknown_bytes": binary(tag=UNKNOWN_TAGS[1]),
    }
    schema = cls.__schema__
    fields = {n: replace(field, type=later_type(field.type)) for n, field in schema.fields.items()}
    return StructType(
        cls.__name__,
        (Message if issubclass(cls, Message) else Struct,),
        fields | added,
        key=schema.key,
        versions=str(schema.versions),
        flexible=str(schema.flexible),
    )


def later_type(kind: FieldType) -> FieldType:
    match kind:
        case ArrayOf(element=element):
            return ArrayOf(later_type(element))
        case StructOf(struct=struct):
            own: type[Struct] = struct
            return StructOf(later_self(own))
    return kind


def later(value: Any, version: int) -> Any:
    """The value as its class's later self."""
    match value:
        case Struct():
            fields = {
                name: later(getattr(value, name), version)
                for name, field in value.__schema__.fields.items()
                if version in field.versions
            }
            added = {"unknown_text": "later", "unknown_bytes": bytes(150)}
            return later_self(type(value))(**fields, **added)
        case list():
            return [later(item, version) for item in value]
    return value
