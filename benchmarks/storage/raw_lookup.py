"""The least that a look-up needs: two bisections and one read, the files opened when first used.

Whole files are read into arrays, as there is no cheaper way to bisect them from Python.
"""

from __future__ import annotations

import os
import sys
from array import array
from bisect import bisect_left, bisect_right
from pathlib import Path

from logquake.wire.records import HEADER_BYTES

_TIME_ENTRY_BYTES = 12


class RawLog:
    """Descriptors stay open as long as this does."""

    def __init__(self, place: Path) -> None:
        self._logs = sorted(place.glob("*.log"))
        self._base_offsets = [int(path.stem) for path in self._logs]
        self._entries: dict[int, array[int]] = {}
        self._files: dict[int, int] = {}
        self._last_times: list[int] = []

    def __del__(self) -> None:
        for file in self._files.values():
            os.close(file)

    def find(self, offset: int) -> bytes:
        """The header at the last entry at or before the offset."""
        segment = bisect_right(self._base_offsets, offset) - 1
        entries = self._entries.get(segment)
        if entries is None:
            entries = self._entries[segment] = offset_entries(
                self._logs[segment].with_suffix(".index")
            )
        relative = offset - self._base_offsets[segment]
        slot = bisect_right(range(len(entries) // 2), relative, key=lambda i: entries[2 * i]) - 1
        return os.pread(
            self._file(segment), HEADER_BYTES, entries[2 * slot + 1] if slot >= 0 else 0
        )

    def find_time(self, time_ms: int) -> bytes:
        """The first header of the first segment whose last entry is not before the time."""
        while not self._last_times or self._last_times[-1] < time_ms:
            path = self._logs[len(self._last_times)].with_suffix(".timeindex")
            self._last_times.append(_last_time(path))
        # They ascend here: so much may a limit assume.
        return os.pread(self._file(bisect_left(self._last_times, time_ms)), HEADER_BYTES, 0)

    def _file(self, segment: int) -> int:
        file = self._files.get(segment)
        if file is None:
            file = self._files[segment] = os.open(self._logs[segment], os.O_RDONLY)
        return file


def offset_entries(path: Path) -> array[int]:
    """Relative offsets and positions, in turn."""
    entries = array("i", path.read_bytes())
    if sys.byteorder == "little":
        entries.byteswap()
    return entries


def _last_time(path: Path) -> int:
    file = os.open(path, os.O_RDONLY)
    try:
        end = os.lseek(file, 0, os.SEEK_END)
        return int.from_bytes(os.pread(file, 8, end - _TIME_ENTRY_BYTES), "big")
    finally:
        os.close(file)
