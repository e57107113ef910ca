"""Histories and journals, read while they are written: how many rows of which kind there are.

Lines are counted by a search for their kind and taken apart only where somebody waits for such a
row: workloads write tens of thousands a second on the same cores.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Event, Lock

from logquake.chaos.history.lines import from_line
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.history.writer import wall_us
from logquake.chaos.scenarios.patterns import RowPattern

_PIECE_BYTES = 4 * 1024 * 1024
_WHAT = re.compile(rb'"what": ?"([^"]+)"')
# So many that nobody is told of each.
_AMASSED = frozenset(
    {Kind.SEND, Kind.ACKED, Kind.REFUSED, Kind.UNKNOWN, Kind.POLLED}
    | {Kind.COMMIT_ASKED, Kind.COMMIT_ANSWERED, Kind.EXCHANGED}
    | {Kind.TRANSACTION_BEGUN, Kind.TRANSACTION_ENDING, Kind.TRANSACTION_ENDED}
)


class Watch:
    """``wanted`` rows of a pattern that were written at ``since_us`` or later: what was written
    before is read after it too, and is no sign of what was done in between.
    """

    def __init__(self, pattern: RowPattern, wanted: int, since_us: int) -> None:
        self.pattern = pattern
        self.seen = 0
        self.satisfied = Event()
        self._wanted = wanted
        self._since_us = since_us

    def note(self, row: Row) -> None:
        if row.at_us >= self._since_us and self.pattern.matches(row):
            self.seen += 1
            if self.seen >= self._wanted:
                self.satisfied.set()


class Tally:
    """poll() is called by one thread, watch() and forget() by any.

    ``on_events`` is told of the rows that are few, all new ones of a poll together, by time: those
    of faults, and the brokers' journals.
    """

    def __init__(
        self,
        files: Callable[[], Iterable[Path]],
        on_events: Callable[[Sequence[Row]], None] = lambda _: None,
        now_us: Callable[[], int] = wall_us,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self.observed: dict[str, Row] = {}  # the last of each partition
        self._files = files
        self._on_events = on_events
        self._new: list[Row] = []
        self._now_us = now_us
        self._read_bytes: Counter[Path] = Counter()
        self._lock = Lock()
        self._watches: list[Watch] = []

    def watch(self, pattern: RowPattern, wanted: int) -> Watch:
        """It counts what is written from now on."""
        # A journal's times are whole milliseconds.
        watch = Watch(pattern, wanted, self._now_us() // 1000 * 1000)
        with self._lock:
            self._watches.append(watch)
        return watch

    def forget(self, watch: Watch) -> None:
        with self._lock:
            self._watches.remove(watch)

    def poll(self) -> None:
        """Read what was written since."""
        for path in self._files():
            while piece := self._next_lines(path):
                self._take(piece)
        if self._new:
            self._on_events(sorted(self._new, key=lambda row: row.at_us))
            self._new = []

    def _next_lines(self, path: Path) -> bytes:
        with path.open("rb") as file:
            if path.stat().st_size < self._read_bytes[path]:  # a journal that was begun anew
                self._read_bytes[path] = 0
            file.seek(self._read_bytes[path])
            piece = file.read(_PIECE_BYTES)
        whole = piece[: piece.rfind(b"\n") + 1]
        self._read_bytes[path] += len(whole)
        return whole

    def _take(self, piece: bytes) -> None:
        with self._lock:
            watches = list(self._watches)
        watched = {watch.pattern.what for watch in watches}
        for line in piece.splitlines():
            found = _WHAT.search(line)
            what = "" if found is None else found[1].decode()
            self.counts[what] += 1
            if what in watched or what not in _AMASSED:
                self._tell(from_line(line), watches)

    def _tell(self, row: Row, watches: Iterable[Watch]) -> None:
        for watch in watches:
            watch.note(row)
        if row.what == Kind.OBSERVED:
            self.observed[row.subject] = row
        elif row.what not in _AMASSED:
            self._new.append(row)
