"""Messages as Kafka's JSON converters show them, with names in snake_case."""

from __future__ import annotations

import base64
import math
from typing import Any

from logquake.wire.schema import Struct
from logquake.wire.schema.fields import ArrayOf, Binary, Field, FieldType, Scalar, StructOf
from logquake.wire.schema.message import default_value
from logquake.wire.uuids import encode_uuid
from tests.wire.tables import snake_case


def in_snake_case(value: Any) -> Any:
    match value:
        case dict():
            return {snake_case(key): in_snake_case(inner) for key, inner in value.items()}
        case list():
            return [in_snake_case(inner) for inner in value]
    return value


def json_form(struct: Struct, version: int) -> dict[str, Any]:
    """What Kafka's JSON converters make: tagged fields only where they are not their defaults."""
    form = {}
    for name, field in struct.__schema__.fields.items():
        value = getattr(struct, name)
        if version in field.versions and not (field.tag is not None and is_default(value, field)):
            form.update(json_field(name, field.type, value, version))
    return form


def is_default(value: Any, field: Field) -> bool:
    return bool(value == default_value(field))


def json_field(name: str, kind: FieldType, value: Any, version: int) -> dict[str, Any]:
    if name == "records" and value is not None:  # their bytes are left out on demand
        return {"records_size_in_bytes": len(value)}
    return {name: json_value(kind, value, version)}


def json_value(kind: FieldType, value: Any, version: int) -> Any:
    match kind:
        case _ if value is None:
            return None
        case ArrayOf(element=element):
            return [json_value(element, item, version) for item in value]
        case StructOf():
            return json_form(value, version)
        case Binary():
            return base64.b64encode(value).decode()
        case Scalar(code="16s"):
            return encode_uuid(value)
        case Scalar(code="d") if not math.isfinite(value):
            return "NaN" if math.isnan(value) else f"{'-' * (value < 0)}Infinity"
    return value
