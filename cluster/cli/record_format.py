r"""How ``consume`` writes a record: a format of kcat's, or JSON with kcat's names.

``%t`` topic, ``%p`` partition, ``%o`` offset, ``%T`` timestamp in ms, ``%k`` key, ``%s`` value,
``%h`` headers, ``%K`` and ``%S`` lengths of key and value (-1: NULL), ``%R`` the value's length in
four bytes, ``%%``; and the escapes ``\n``, ``\t``, ``\r``, ``\0``, ``\xNN``.
"""

from __future__ import annotations

import json
import re
import struct
from base64 import b64encode
from collections.abc import Callable
from typing import Any

from logquake.client.consumer.records import ConsumerRecord
from logquake.cluster.cli.escapes import unescaped
from logquake.cluster.errors import ClusterError

Write = Callable[[ConsumerRecord], bytes]

_PLACEHOLDER = re.compile(r"%(.?)", re.DOTALL)


def _length(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _headers(record: ConsumerRecord) -> bytes:
    return b",".join(
        name.encode() + b"=" + (b"NULL" if value is None else value)
        for name, value in record.headers
    )


_FIELDS: dict[str, Write] = {
    "t": lambda record: record.topic.encode(),
    "p": lambda record: b"%d" % record.partition,
    "o": lambda record: b"%d" % record.offset,
    "T": lambda record: b"%d" % record.timestamp_ms,
    "k": lambda record: record.key or b"",
    "s": lambda record: record.value or b"",
    "h": _headers,
    "K": lambda record: b"%d" % _length(record.key),
    "S": lambda record: b"%d" % _length(record.value),
    "R": lambda record: struct.pack(">i", _length(record.value)),
    "%": lambda _: b"%",
}


def formatted(template: str) -> Write:
    """Raises ClusterError for a placeholder that means nothing."""
    pieces: list[Write] = []
    position = 0
    for found in _PLACEHOLDER.finditer(template):
        pieces.append(_literal(template[position : found.start()]))
        if found[1] not in _FIELDS:
            raise ClusterError(f"{found[0]!r} is no field: choose of %{' %'.join(_FIELDS)}")
        pieces.append(_FIELDS[found[1]])
        position = found.end()
    pieces.append(_literal(template[position:]))
    return lambda record: b"".join([piece(record) for piece in pieces])


def _literal(text: str) -> Write:
    literal = unescaped(text)
    return lambda _: literal


def as_json(record: ConsumerRecord) -> bytes:
    """One line. What is not UTF-8 is shown with replacement characters, and stands beside whole
    as ``key_base64``, ``payload_base64`` and ``headers_base64``, which has all values.
    """
    document: dict[str, Any] = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "ts": record.timestamp_ms,
    }
    if record.headers:
        document["headers"] = [
            part for name, value in record.headers for part in (name, _text(value))
        ]
    document |= {"key": _text(record.key), "payload": _text(record.value)}
    document |= _not_text(record)
    return json.dumps(document, ensure_ascii=False).encode() + b"\n"


def _not_text(record: ConsumerRecord) -> dict[str, Any]:
    """What replacement characters do not tell."""
    named = {"key_base64": record.key, "payload_base64": record.value}
    found: dict[str, Any] = {
        name: _base64(data) for name, data in named.items() if not _is_text(data)
    }
    if not all(_is_text(value) for _, value in record.headers):
        found["headers_base64"] = [
            part for name, value in record.headers for part in (name, _base64(value))
        ]
    return found


def _is_text(data: bytes | None) -> bool:
    try:
        return data is None or data.decode() is not None
    except UnicodeDecodeError:
        return False


def _base64(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="replace")
