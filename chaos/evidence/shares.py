"""A history too long for memory: cut into shares of its partitions, each judged by itself.

Nearly all rows are about one partition, and most invariants too. A share has those rows of its
partitions alone, and all the others: who began, transactions, assignments, commits, faults, looks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from logquake.chaos.evidence.clients import Share
from logquake.chaos.history.parquet import read_columns
from logquake.chaos.history.rows import Kind

WIDE = (Kind.SEND, Kind.ACKED, Kind.REFUSED, Kind.UNKNOWN, Kind.POLLED)
_WIDE = pa.array([str(kind) for kind in WIDE])


def read_share(path: Path, share: Share) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet file that a share has, by time."""
    mine = pa.array(sorted(share), pa.string())
    for batch in read_columns(path):
        of_others = pc.invert(pc.is_in(_texts(batch, "subject"), mine))
        yield batch.filter(pc.invert(pc.and_(_is_wide(batch), of_others)))


def wide_rows(path: Path) -> Counter[str]:
    """How many rows of a Parquet file are about each partition alone."""
    found: Counter[str] = Counter()
    for batch in read_columns(path, ("what", "subject")):
        counts = pc.value_counts(_texts(batch, "subject").filter(_is_wide(batch)))
        found.update({each["values"].as_py(): each["counts"].as_py() for each in counts})
    return found


def cut(sizes: Counter[str], most_rows: int) -> Sequence[Share]:
    """The partitions in shares of so many rows at most; one that has more is a share of its own."""
    shares: list[set[str]] = []
    rows_left = 0
    for partition, rows in sorted(sizes.items(), key=lambda each: (-each[1], each[0])):
        if not shares or rows > rows_left:
            shares.append(set())
            rows_left = most_rows
        shares[-1].add(partition)
        rows_left -= rows
    return [frozenset(share) for share in shares]


def _is_wide(batch: pa.RecordBatch) -> pa.Array:
    return pc.is_in(_texts(batch, "what"), _WIDE)


def _texts(batch: pa.RecordBatch, name: str) -> pa.Array:
    return batch.column(name).cast(pa.string())
