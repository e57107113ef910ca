"""A message as JSON, as Kafka's generated converters and Jackson write it."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from typing import Any

from logquake.wire.schema import Message, Struct

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
        _camel_case(name): _plain(getattr(message, name), version)
        for name, field in message.__schema__.fields.items()
        if version in field.versions
    }


def _plain(value: Any, version: int) -> Any:
    if isinstance(value, Struct):
        return _struct(value, version)
    if isinstance(value, list):
        return [_plain(element, version) for element in value]
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return value


@cache
def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)
