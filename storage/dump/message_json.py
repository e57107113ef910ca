"""A message as JSON, as Kafka's generated converters and Jackson write it."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from typing import Any

from logquake.wire.schema import Message, Struct
from logquake.wire.schema.fields import ArrayOf, Binary, Field, FieldType, Scalar, StructOf
from logquake.wire.schema.message import default_value
from logquake.wire.uuids import encode_uuid

_SHORT_ESCAPES = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_ESCAPES = str.maketrans(
    {chr(code): f"\\u{code:04X}" for code in range(0x20)}
    | _SHORT_ESCAPES
    | {'"': '\\"', "\\": "\\\\"}
)


def message_document(message: Message, version: int) -> dict[str, Any]:
    """Kafka's field names and plain values; bytes as base64; the fields of that version alone."""
    return _struct(message, version)


def json_text(document: Any) -> str:
    """Without blanks, control characters escaped in capitals, everything else as it is."""
    if document is None:
        return "null"
    if isinstance(document, bool):
        return "true" if document else "false"
    if isinstance(document, str):
        return f'"{document.translate(_ESCAPES)}"'
    if isinstance(document, list):
        return f"[{','.join(map(json_text, document))}]"
    if isinstance(document, dict):
        pairs = (f"{json_text(key)}:{json_text(value)}" for key, value in document.items())
        return f"{{{','.join(pairs)}}}"
    return str(document)


def _struct(message: Struct, version: int) -> dict[str, Any]:
    return {
        _camel_case(name): _plain(field.type, getattr(message, name), version)
        for name, field in message.__schema__.fields.items()
        if version in field.versions and not _is_left_out(field, getattr(message, name))
    }


def _is_left_out(field: Field, value: Any) -> bool:
    """Tagged fields are shown where they were written."""
    return field.tag is not None and bool(value == default_value(field))


def _plain(kind: FieldType, value: Any, version: int) -> Any:
    match kind:
        case _ if value is None:
            return None
        case StructOf():
            return _struct(value, version)
        case ArrayOf(element=element):
            return [_plain(element, item, version) for item in value]
        case Binary():
            return b64encode(value).decode()
        case Scalar(code="16s"):
            return encode_uuid(value)
    return value


@cache
def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)
