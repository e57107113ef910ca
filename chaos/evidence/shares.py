"""A history too long for memory: cut into shares of its partitions, each judged by itself.

Nearly all rows are about one partition, and most invariants too. A share has those rows of its
partitions alone, and all the others: who began and ended, transactions, faults.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from logquake.chaos.evidence.clients import Share
from logquake.chaos.evidence.columns import counted, is_among
from logquake.chaos.evidence.stored import Mask
from logquake.chaos.history.parquet import read_columns
from logquake.chaos.history.rows import Kind

OF_ONE_PARTITION = frozenset(
    {
        Kind.SEND,
        Kind.ACKED,
        Kind.REFUSED,
        Kind.UNKNOWN,
        Kind.POLLED,
        Kind.ASSIGNED,
        Kind.REVOKED,
        Kind.COMMIT_ASKED,
        Kind.COMMIT_ANSWERED,
        Kind.OBSERVED,
    }
)


def read_share(path: Path, share: Share) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet file that a share has, in the file's order."""
    for batch in read_columns(path):
        is_of_another = _is_of_one(batch) & ~is_among(batch.column("subject"), share)
        yield batch.filter(pa.array(~is_of_another))


def partition_sizes(path: Path) -> Counter[str]:
    """How many rows of a Parquet file are about each partition alone."""
    found: Counter[str] = Counter()
    for batch in read_columns(path, ("what", "subject")):
        found.update(counted(batch.column("subject"), _is_of_one(batch)))
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


def _is_of_one(batch: pa.RecordBatch) -> Mask:
    return is_among(batch.column("what"), OF_ONE_PARTITION)
