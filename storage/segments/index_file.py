"""The sparse .index and .timeindex files beside a .log file, in Kafka's format.

.index: 4-byte relative offset, 4-byte position (OffsetIndex). .timeindex: 8-byte timestamp, 4-byte
relative offset (TimeIndex). While a segment is active zeros follow up to the largest size; sealing
trims them.

Entries are kept in memory and written in runs: Kafka maps the file, here a system call an entry
would cost as much as writing the batch. Nothing is lost by it, because after a crash the indexes
of every segment that was not synced are rebuilt from its log.
"""

from __future__ import annotations

import struct
import sys
from array import array
from bisect import bisect_left, bisect_right
from operator import lt
from typing import ClassVar

from logquake.storage.disk.seam import Disk, File
from logquake.storage.errors import DamagedFileError
from logquake.wire.sentinels import NO_TIMESTAMP

_WRITE_EVERY_ENTRIES = 128
OFFSET_ENTRY_BYTES = 8
TIME_ENTRY_BYTES = 12

_VALUE_BYTES = 4
_TYPE_CODES = {4: "i", 8: "q"}  # of arrays, by the bytes of a number


class DamagedIndexError(DamagedFileError):
    """An index file that cannot be right; it is rebuilt from the log."""


class _SparseIndex:
    """Ascending keys and values in two arrays, appended to the end of a file of fixed entries.

    An entry is a key, of KEY_BYTES, and a value of four.
    """

    ENTRY: ClassVar[struct.Struct]
    KEY_BYTES: ClassVar[int]

    def __init__(self, disk: Disk, path: str, base_offset: int, max_bytes: int) -> None:
        self._disk = disk
        self.path = path
        self._base_offset = base_offset
        self._max_entries = max_bytes // self.ENTRY.size
        self.reset()

    def __len__(self) -> int:
        return len(self._keys)

    def load(self) -> None:
        """Read the file. Raises DamagedIndexError, FileNotFoundError."""
        content = self._disk.read(self.path)
        if len(content) % self.ENTRY.size:
            raise DamagedIndexError(f"{self.path} has {len(content)} bytes")
        self._keys = self._column(content, 0, self.KEY_BYTES)
        self._values = self._column(content, self.KEY_BYTES, _VALUE_BYTES)
        self._written = len(self._keys)
        if not _ascends(self._keys) or not _ascends(self._values):
            raise DamagedIndexError(f"{self.path} does not ascend")

    def reset(self) -> None:
        """Forget every entry, to build the index anew."""
        self._keys = array(_TYPE_CODES[self.KEY_BYTES])
        self._values = array(_TYPE_CODES[_VALUE_BYTES])
        self._written = 0

    def preallocate(self) -> None:
        """Write what is in memory and extend the file with zeros to its largest size."""
        file = self.open()
        self._write(file, 0)
        file.truncate(len(self) * self.ENTRY.size)
        # More than fit, if segment.index.bytes was larger before: it rolls, they stay.
        file.truncate(max(len(self), self._max_entries) * self.ENTRY.size)

    def trim(self) -> None:
        """Write what is in memory and cut the file to it."""
        file = self.open()
        self._write(file, self._written)
        file.truncate(len(self) * self.ENTRY.size)

    def open(self) -> File:
        return self._disk.open(self.path, create=True)

    def _append(self, key: int, value: int) -> None:
        self._keys.append(key)
        self._values.append(value)
        if len(self._keys) - self._written >= _WRITE_EVERY_ENTRIES:
            self._write(self.open(), self._written)

    def _keep(self, entries: int) -> None:
        del self._keys[entries:]
        del self._values[entries:]
        self._written = min(self._written, entries)

    def _write(self, file: File, first: int) -> None:
        if first < len(self):
            pack = self.ENTRY.pack
            entries = map(pack, self._keys[first:], self._values[first:])
            file.pwritev([b"".join(entries)], first * self.ENTRY.size)
        self._written = len(self)

    def _column(self, content: bytes, start: int, width: int) -> array[int]:
        """A field of all entries: byte by byte of all at once, where entry by entry takes long."""
        column = bytearray(len(content) // self.ENTRY.size * width)
        for byte in range(width):
            column[byte::width] = content[start + byte :: self.ENTRY.size]
        numbers = array(_TYPE_CODES[width], bytes(column))
        if sys.byteorder == "little":
            numbers.byteswap()
        return numbers


def _ascends(numbers: array[int]) -> bool:
    return all(map(lt, numbers, numbers[1:])) and (not numbers or numbers[0] >= 0)


class OffsetIndex(_SparseIndex):
    """(last offset of a batch, its position), every index.interval.bytes or so."""

    ENTRY = struct.Struct(">ii")
    KEY_BYTES = 4

    def append(self, offset: int, position: int) -> None:
        self._append(offset - self._base_offset, position)

    def lookup(self, offset: int) -> int:
        """The position of a batch at or before the one that holds offset."""
        slot = bisect_right(self._keys, offset - self._base_offset) - 1
        return self._values[slot] if slot >= 0 else 0

    def first_offset_at(self, position: int) -> int | None:
        """Of the first entry at or after position."""
        slot = bisect_left(self._values, position)
        return self._base_offset + self._keys[slot] if slot < len(self) else None

    def last_position(self) -> int:
        return self._values[-1] if self._values else 0

    def truncate_to(self, position: int) -> None:
        """Keep the entries of batches before position."""
        kept = len(self)
        while kept and self._values[kept - 1] >= position:
            kept -= 1
        self._keep(kept)


class TimeIndex(_SparseIndex):
    """(largest timestamp so far, last offset of its batch), beside each offset entry."""

    ENTRY = struct.Struct(">qi")
    KEY_BYTES = 8

    def last_entry(self) -> tuple[int, int]:
        """(timestamp, offset); (NO_TIMESTAMP, base offset) when empty."""
        if not self._keys:
            return NO_TIMESTAMP, self._base_offset
        return self._keys[-1], self._base_offset + self._values[-1]

    def append_if_newer(self, timestamp: int, offset: int) -> None:
        if timestamp > self.last_entry()[0]:
            self._append(timestamp, offset - self._base_offset)

    def lookup(self, timestamp: int) -> int:
        """The offset of the last entry not later than timestamp; the base offset if none is."""
        slot = bisect_right(self._keys, timestamp) - 1
        return self._base_offset + self._values[slot] if slot >= 0 else self._base_offset

    def truncate_to(self, offset: int) -> None:
        """Keep the entries of offsets before offset."""
        kept = len(self)
        while kept and self._base_offset + self._values[kept - 1] >= offset:
            kept -= 1
        self._keep(kept)
