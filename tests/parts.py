"""An encoded message in one piece, records that lie in a log's file included."""

from __future__ import annotations

from collections.abc import Iterable

from logquake.storage.log.slice import LogSlice
from logquake.wire.schema import Part


def joined(parts: Iterable[Part]) -> bytes:
    return b"".join(map(bytes_of, parts))


def bytes_of(part: Part) -> bytes:
    """Of one part, or of the records of one partition."""
    if isinstance(part, LogSlice):
        return part.read()
    if isinstance(part, bytes | bytearray | memoryview):
        return bytes(part)
    raise TypeError(f"records of an unknown kind: {type(part).__name__}")
