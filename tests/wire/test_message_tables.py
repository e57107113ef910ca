"""The message classes say what Kafka 3.9's own definitions say, field by field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from logquake.wire.api import ApiKey, request_type, response_type
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
from logquake.wire.schema.versions import Versions
from logquake.wire.uuids import ZERO_UUID
from tests.wire.tables import PAIRS, snake_case

VECTORS = Path(__file__).with_name("vectors")
PROTOCOL = json.loads(VECTORS.joinpath("protocol-3.9.json").read_text())
# A message a line, and the paths of its ignorable fields, as Kafka's definitions have them.
IGNORABLE = {
    name: fields
    for name, *fields in map(str.split, (VECTORS / "ignorable-3.9.txt").read_text().splitlines())
}
HEADERS = {"RequestHeader", "ResponseHeader"}
DEFINITIONS = {m["name"]: m for m in PROTOCOL if m["name"] not in HEADERS}

SCALARS = {
    "?": "bool",
    "b": "int8",
    "h": "int16",
    "H": "uint16",
    "i": "int32",
    "q": "int64",
    "d": "float64",
    "16s": "uuid",
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_message_is_as_kafka_defines_it(
    name: str, message_types: dict[str, type[Message]]
) -> None:
    definition = DEFINITIONS[name]
    common = {c["name"]: c["fields"] for c in definition.get("commonStructs", [])}
    schema = message_types[name].__schema__
    assert {
        "versions": str(schema.versions),
        "flexible": str(schema.flexible),
        "key": schema.key,
        "fields": described(message_types[name]),
    } == {
        "versions": definition["validVersions"],
        "flexible": definition["flexibleVersions"],
        "key": definition.get("apiKey"),
        "fields": expected(definition["fields"], common),
    }


def test_there_is_no_message_that_kafka_does_not_have(
    message_types: dict[str, type[Message]],
) -> None:
    assert set(message_types) == set(DEFINITIONS)


def test_what_another_version_may_drop_is_what_kafka_drops(message_type: type[Message]) -> None:
    assert list(ignorable(message_type, "")) == IGNORABLE.get(message_type.__name__, [])


def ignorable(cls: type[Struct], prefix: str) -> Iterator[str]:
    for name, field in cls.__schema__.fields.items():
        if field.ignorable:
            yield f"{prefix}{name}"
        inner = field.type.element if isinstance(field.type, ArrayOf) else field.type
        if isinstance(inner, StructOf):
            yield from ignorable(inner.struct, f"{prefix}{name}.")


def test_there_is_every_version_that_kafka_has() -> None:
    """What the oracles are asked about: with 150 messages there are 615 pairs."""
    defined = {
        (name, version)
        for name, definition in DEFINITIONS.items()
        for version in Versions.parse(definition["validVersions"])
    }
    assert defined == PAIRS
    assert (len(DEFINITIONS), len(defined)) == (150, 615)


@pytest.mark.parametrize("key", ApiKey, ids=lambda key: key.name)
def test_a_key_leads_to_its_messages(key: ApiKey) -> None:
    request, response = request_type(key), response_type(key)
    assert request is not None
    assert response is not None
    assert request.__schema__.key == response.__schema__.key == key
    words = request.__name__.removesuffix("Request")
    assert response.__name__ == f"{words}Response"
    assert key.name.replace("_", "").lower() == words.lower()


def test_an_unknown_key_leads_nowhere() -> None:
    assert request_type(999) is None
    assert response_type(-1) is None


def described(cls: type[Struct]) -> list[dict[str, Any]]:
    return [describe(name, field) for name, field in cls.__schema__.fields.items()]


def describe(name: str, field: Field) -> dict[str, Any]:
    inner = field.type.element if isinstance(field.type, ArrayOf) else field.type
    return {
        "name": name,
        "type": type_name(field.type),
        "versions": str(field.versions),
        "nullable": str(field.nullable),
        "tag": field.tag,
        "default": None if isinstance(inner, StructOf) and field.default else field.default,
        "fields": described(inner.struct) if isinstance(inner, StructOf) else None,
    }


def type_name(kind: FieldType) -> str:
    match kind:
        case Scalar(code=code):
            return SCALARS[code]
        case Text():
            return "string"
        case Binary():
            return "bytes"
        case RecordData():
            return "records"
        case ArrayOf(element=element):
            return f"[]{type_name(element)}"
        case StructOf():
            return "struct"


def expected(fields: list[dict[str, Any]], common: dict[str, Any]) -> list[dict[str, Any]]:
    return [expect(field, common) for field in fields]


def expect(field: dict[str, Any], common: dict[str, Any]) -> dict[str, Any]:
    element = field["type"].removeprefix("[]")
    is_struct = element[0].isupper()
    inner = field.get("fields") or common.get(element, [])
    return {
        "name": snake_case(field["name"]),
        "type": field["type"].replace(element, "struct") if is_struct else field["type"],
        "versions": field["versions"],
        "nullable": field.get("nullableVersions", "none"),
        "tag": field.get("tag"),
        "default": expected_default(field),
        "fields": expected(inner, common) if is_struct else None,
    }


def expected_default(field: dict[str, Any]) -> Any:
    """What stands when nothing is said: zero, empty, and null for records and structs."""
    kind, written = field["type"], field.get("default")
    if written == "null" or kind == "records":
        return None
    if kind.startswith("[]"):
        return ()
    if written is not None and kind.startswith("int"):
        return int(str(written), 0)
    if kind == "bool":
        return written == "true"
    implied = {"string": "", "bytes": b"", "uuid": ZERO_UUID, "float64": 0.0}
    if kind[0].isupper():
        return None
    return implied.get(kind, 0) if written is None else written
