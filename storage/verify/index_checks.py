"""The .index and .timeindex of one segment, held against its batches as they pass by.

An entry is right when a search that begins where it points cannot miss anything. That is less
than DumpLogSegments asks: a follower that writes several batches at once makes one entry for them,
with the first one's position and the last one's offset.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from logquake.storage.disk.seam import File
from logquake.storage.verify.findings import Findings
from logquake.wire.records import BatchHeader
from logquake.wire.sentinels import NO_TIMESTAMP

_OFFSET_ENTRY = struct.Struct(">ii")
_TIME_ENTRY = struct.Struct(">qi")
_ENTRIES_AT_ONCE = 4096

Entry = tuple[int, int]


class _IndexCheck:
    """``is_filled``: zeros may follow the entries, as while a segment is active."""

    ENTRY: struct.Struct

    def __init__(
        self, path: str, file: File, base_offset: int, findings: Findings, *, is_filled: bool
    ) -> None:
        self._path = path
        self._file = file
        self._base_offset = base_offset
        self._findings = findings
        self._is_filled = is_filled
        self._entries = self._read()
        self._next = next(self._entries, None)

    def _advance(self) -> None:
        self._next = next(self._entries, None)

    def _damage(self, message: str) -> None:
        self._findings.damage("index", self._path, message)

    def _read(self) -> Iterator[Entry]:
        """Entries as they are stored, up to the fill or the first that is out of order."""
        size, step = self._file.size(), self.ENTRY.size
        if size % step:
            self._damage(f"{size} bytes are no multiple of {step}")
        last: Entry | None = None
        for start in range(0, size - size % step, step * _ENTRIES_AT_ONCE):
            content = self._file.pread(min(step * _ENTRIES_AT_ONCE, size - start), start)
            for entry in self.ENTRY.iter_unpack(content[: len(content) - len(content) % step]):
                if entry == (0, 0) and (last is not None or self._is_filled):
                    if not self._is_filled:
                        self._damage("zeros follow the entries of a segment that is not active")
                    return
                if last is not None and (entry[0] <= last[0] or entry[1] <= last[1]):
                    self._damage(f"entry {entry} follows {last}")
                    return
                last = entry
                yield entry


class OffsetIndexCheck(_IndexCheck):
    ENTRY = _OFFSET_ENTRY

    def batch(self, position: int, first_offset: int, header: BatchHeader) -> None:  # noqa: ARG002
        while self._next is not None and self._next[1] <= position:
            offset = self._base_offset + self._next[0]
            if self._next[1] < position:
                self._damage(f"offset {offset} points at byte {self._next[1]}, where none begins")
            elif offset < first_offset:
                self._damage(f"offset {offset} points behind it, at offset {first_offset}")
            self._advance()

    def end(self, next_offset: int) -> None:
        """The walk has seen the whole segment."""
        if self._next is not None:
            offset = self._base_offset + self._next[0]
            self._damage(
                f"offset {offset} points at byte {self._next[1]}, "
                f"the log ends before, at offset {next_offset}"
            )


class TimeIndexCheck(_IndexCheck):
    ENTRY = _TIME_ENTRY

    def __init__(
        self, path: str, file: File, base_offset: int, findings: Findings, *, is_filled: bool
    ) -> None:
        self._latest = NO_TIMESTAMP
        self._indexed = NO_TIMESTAMP
        super().__init__(path, file, base_offset, findings, is_filled=is_filled)

    def batch(self, position: int, first_offset: int, header: BatchHeader) -> None:  # noqa: ARG002
        self._latest = max(self._latest, header.max_timestamp)
        while self._next is not None and self._base_offset + self._next[1] <= header.last_offset:
            timestamp, offset = self._next[0], self._base_offset + self._next[1]
            if timestamp != self._latest:
                self._damage(f"{timestamp} for offset {offset}, where the latest is {self._latest}")
            self._indexed = timestamp
            self._advance()

    def end(self, next_offset: int) -> None:
        """The walk has seen the whole segment."""
        if self._next is not None:
            offset = self._base_offset + self._next[1]
            self._damage(f"lists offset {offset}, the log ends at {next_offset}")
        elif not self._is_filled and self._indexed < self._latest:
            self._damage(f"ends with {self._indexed}, the latest in the log is {self._latest}")
