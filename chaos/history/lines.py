"""Rows as lines of JSON, and lines as rows: of histories, and of the brokers' journals.

A line has the fields of its row by their names, but for those that are None. A journal's line
(`node/process/journal_file.py`) has milliseconds and the broker's id instead of at_us and process.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from logquake.chaos.history.rows import Row

_FIELDS_OF_JOURNALS = ("what", "subject", "epoch", "before", "after", "why", "caused_by")
_OF_JOURNALS = "time_ms"  # and of them alone
_encode = json.JSONEncoder(separators=(",", ":")).encode
# Processes, kinds, partitions and keys come again and again.
_quoted = lru_cache(maxsize=1 << 16)(json.encoder.encode_basestring_ascii)


def _members(*names: str) -> list[tuple[str, int]]:
    return [(f',"{name}":', Row._fields.index(name)) for name in names]


_NUMBERS = _members("epoch", "offset", "value", "caused_by")
_NAMES = _members("key", "group")
_REST = _members("values", "before", "after", "why")


def to_line(row: Row) -> bytes:
    """With its line's end. Put together by hand: json.dumps takes twice as long."""
    text = (
        f'{{"at_us":{row.at_us},"process":{_quoted(row.process)},"sequence":{row.sequence},'
        f'"what":{_quoted(row.what)},"subject":{_quoted(row.subject)}'
    )
    for member, at in _NUMBERS:
        if (number := row[at]) is not None:
            text += f"{member}{number}"
    for member, at in _NAMES:
        if (name := row[at]) is not None:
            text += member + _quoted(name)
    for member, at in _REST:
        if (value := row[at]) is not None:
            text += member + _encode(value)
    return f"{text}}}\n".encode()


def from_line(line: bytes) -> Row:
    """Raises ValueError, KeyError or TypeError for what is no line of either kind."""
    fields = json.loads(line)
    if _OF_JOURNALS in fields:
        return _of_journal(fields)
    return Row._make([fields.get(name) for name in Row._fields])


def is_of_journal(line: bytes) -> bool:
    """Which kind all lines of its file are of, by the first."""
    return f'"{_OF_JOURNALS}":'.encode() in line


def _of_journal(fields: Mapping[str, Any]) -> Row:
    return Row(
        at_us=fields[_OF_JOURNALS] * 1000,
        process=f"broker-{fields['broker']}",
        sequence=fields["sequence"],
        **{name: fields[name] for name in _FIELDS_OF_JOURNALS if name in fields},
    )
