"""The .txnindex file beside a .log file: the transactions that were aborted, by their markers.

Entries of 34 bytes (Kafka's TransactionIndex and AbortedTxn, version 0): int16 version, int64
producer id, first offset, offset of the abort marker, last stable offset after it. A transaction
is listed in the segment of its marker, wherever it began. The file is made for the first entry:
most segments have none.

Entries are kept in memory once they were needed. After a crash the index is rebuilt with the
producers' state (producers/recovery.py), because it cannot be had from the segment alone.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from logquake.storage.disk.seam import Disk, File
from logquake.storage.segments.index_file import DamagedIndexError

_VERSION = 0
_ENTRY = struct.Struct(">hqqqq")
_MARKER_OFFSET = attrgetter("last_offset")


class AbortedTransaction(NamedTuple):
    """``last_offset`` is the marker's; every transaction below last_stable_offset was decided."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


def encode_aborted(transactions: Sequence[AbortedTransaction]) -> bytes:
    return b"".join(_ENTRY.pack(_VERSION, *transaction) for transaction in transactions)


def decode_aborted(content: bytes) -> list[AbortedTransaction]:
    """Raises DamagedIndexError for another version, a part of an entry, or markers out of order."""
    if len(content) % _ENTRY.size:
        raise DamagedIndexError(f"{len(content)} bytes of aborted transactions")
    found = []
    for version, *fields in _ENTRY.iter_unpack(content):
        if version != _VERSION:
            raise DamagedIndexError(f"an aborted transaction of version {version}")
        found.append(AbortedTransaction(*fields))
    if any(after.last_offset <= before.last_offset for before, after in pairwise(found)):
        raise DamagedIndexError("markers of aborted transactions do not ascend")
    return found


class TransactionIndex:
    """All methods raise OSError; those that need the entries DamagedIndexError."""

    def __init__(self, disk: Disk, path: str, base_offset: int) -> None:
        self._disk = disk
        self.path = path
        self._base_offset = base_offset
        self._entries: list[AbortedTransaction] | None = None

    def append(self, transactions: Sequence[AbortedTransaction]) -> None:
        """Write them behind the others: their markers follow in the log too."""
        if not transactions:
            return
        entries = self.entries()
        before = entries[-1].last_offset if entries else self._base_offset - 1
        if transactions[0].last_offset <= before:
            raise ValueError(f"marker {transactions[0].last_offset} follows {before}")
        file = self._disk.open(self.path, create=True)
        file.pwritev([encode_aborted(transactions)], len(entries) * _ENTRY.size)
        entries.extend(transactions)

    def collect(self, fetch_offset: int, upper_bound: int) -> tuple[list[AbortedTransaction], bool]:
        """Those that overlap [fetch_offset, upper_bound), and whether no later segment has more."""
        entries = self.entries()
        found = []
        for index in range(bisect_left(entries, fetch_offset, key=_MARKER_OFFSET), len(entries)):
            transaction = entries[index]
            if transaction.first_offset < upper_bound:
                found.append(transaction)
            if transaction.last_stable_offset >= upper_bound:
                return found, True
        return found, False

    def truncate_to(self, offset: int) -> None:
        """Keep those whose markers lie before offset."""
        entries = self.entries()
        kept = bisect_left(entries, offset, key=_MARKER_OFFSET)
        # In any case: a write that failed may have left more in the file than is known here.
        for file in self.files():
            file.truncate(kept * _ENTRY.size)
        del entries[kept:]

    def reset(self) -> None:
        """Drop every entry, to build the index anew."""
        for file in self.files():
            file.truncate(0)
        self._entries = []

    def entries(self) -> list[AbortedTransaction]:
        """All of them, by marker; empty without a file."""
        if self._entries is None:
            try:
                entries = decode_aborted(self._disk.read(self.path))
            except FileNotFoundError:
                entries = []
            if entries and entries[0].last_offset < self._base_offset:
                raise DamagedIndexError(f"{self.path} lists a marker of an earlier segment")
            self._entries = entries
        return self._entries

    def files(self) -> list[File]:
        """The file, to be synced, if there is one."""
        try:
            return [self._disk.open(self.path)]
        except FileNotFoundError:
            return []
