"""One record, whatever the format that it was written in."""

from __future__ import annotations

from typing import NamedTuple


class Record(NamedTuple):
    """One record. The offset is absolute; headers are (key, value) in their order."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
