"""The columns of a record: the connector's, in its order."""

from __future__ import annotations

from collections.abc import Sequence

HEADERS = "headers"
COLUMNS = {  # with the types that Spark has for them
    "key": "binary",
    "value": "binary",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestampType": "int",
    HEADERS: "array<struct<key: string, value: binary>>",
}
USUAL = tuple(name for name in COLUMNS if name != HEADERS)


def schema_of(names: Sequence[str]) -> str:
    """As Spark takes it."""
    return ", ".join(f"{name} {COLUMNS[name]}" for name in names)
