"""A history's lines as columns, a block at a time, without an object a row.

The compiled reader knows no JSON of any shape, which before and after are, and is slow at lists:
the few lines that have these are read by themselves, for these alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.json

from logquake.chaos.history.lines import from_line
from logquake.chaos.history.parquet import JSON_COLUMNS, SCHEMA, array_of, with_dictionaries
from logquake.chaos.history.reader import HistoryError

_BLOCK_BYTES = 8 << 20
_APART = ("values", *JSON_COLUMNS)
_MARKS = tuple(f'"{name}":'.encode() for name in _APART)
_READ = pyarrow.json.ParseOptions(
    explicit_schema=pa.schema([each for each in SCHEMA if each.name not in _APART]),
    unexpected_field_behavior="ignore",
)


def read_line_columns(paths: Iterable[Path]) -> Iterator[pa.RecordBatch]:
    """The rows of histories, file by file, as ``read_columns`` has them. A block is in memory.

    A file is read up to its last whole line. Raises HistoryError, OSError.
    """
    for path in paths:
        for number, block in _blocks(path):
            yield with_dictionaries(_batch(path, number, block))


def _blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    """Whole lines, and the number of the first."""
    number, rest = 1, b""
    with path.open("rb") as file:
        while read := file.read(_BLOCK_BYTES):
            block, end, rest = (rest + read).rpartition(b"\n")
            if end:
                yield number, block + end
                number += block.count(b"\n") + 1


def _batch(path: Path, number: int, block: bytes) -> pa.RecordBatch:
    lines = block.splitlines()
    try:
        table = pyarrow.json.read_json(
            pa.BufferReader(block),
            pyarrow.json.ReadOptions(use_threads=False, block_size=len(block)),
            _READ,
        )
        apart = dict(zip(_APART, _apart(lines), strict=True))
        columns = [
            array_of(each, apart[each.name])
            if each.name in apart
            else table.column(each.name).combine_chunks()
            for each in SCHEMA
        ]
        batch = pa.record_batch(columns, schema=SCHEMA)
        batch.validate(full=True)
    except (pa.ArrowException, ValueError, KeyError, TypeError) as error:
        raise HistoryError(_where(path, number, lines) or f"{path}: {error!r}") from error
    return batch


def _apart(lines: Sequence[bytes]) -> list[list[Any]]:
    """Of each of these columns, what is in each line."""
    found: list[list[Any]] = [[None] * len(lines) for _ in _APART]
    for at, line in enumerate(lines):
        if any(mark in line for mark in _MARKS):
            fields = json.loads(line)
            for name, column in zip(_APART, found, strict=True):
                column[at] = fields.get(name)
    return found


def _where(path: Path, number: int, lines: Sequence[bytes]) -> str | None:
    """The line that cannot be read."""
    for at, line in enumerate(lines, number):
        try:
            from_line(line)
        except (ValueError, KeyError, TypeError) as error:
            return f"{path}, line {at}: {error!r}"
    return None
