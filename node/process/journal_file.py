"""The journal of one process as a file of JSON lines.

    {"time_ms": ..., "sequence": ..., "broker": ..., "what": ..., "subject": ..., "why": ...}

with before, after, epoch and caused_by where an event has them. Sequence numbers go on from where
the file ends, so that they stay unique when a process is started again. Lines are written once a
pass; what a killed process had not written is lost. When the file reaches its bound it becomes
PATH.1 and the one before it is removed.

Caveat: a disk that refuses the journal does not stop the broker. Lines are dropped, and the next
one that can be written says how many.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from logquake.node.journal_events import JOURNAL_GAP
from logquake.seams.journal import Event

_TAIL_BYTES = 64 * 1024  # more than the longest line in sight


class JournalFile:
    """Satisfies logquake.seams.journal.Journal. Raises OSError when it cannot be opened.

    ``flush_later`` gets the flush to run once, at the end of the pass.
    """

    def __init__(
        self,
        path: Path,
        broker_id: int,
        *,
        wall_ms: Callable[[], int],
        flush_later: Callable[[Callable[[], None]], None],
        max_bytes: int,
    ) -> None:
        self._path = path
        self._previous = path.with_name(path.name + ".1")
        self._broker_id = broker_id
        self._wall_ms = wall_ms
        self._flush_later = flush_later
        self._max_bytes = max_bytes
        _cut_half_line(path)
        self._sequence = max(_last_sequence(path), _last_sequence(self._previous))
        self._lines: list[str] = []
        self._dropped = 0
        self._fd = _open(path)
        self._size = os.fstat(self._fd).st_size

    def record(self, event: Event) -> int:
        if not self._lines:
            self._flush_later(self.flush)
        self._append(event)
        return self._sequence

    def flush(self) -> None:
        """Write what was recorded since the last flush."""
        if not self._lines:
            return
        if self._dropped:
            why = f"{self._dropped} events could not be written"
            self._append(Event(JOURNAL_GAP, "journal", why))
        content = "".join(self._lines).encode()
        try:
            self._write(content)
            self._dropped = 0
        except OSError:
            self._dropped += len(self._lines)
        self._lines.clear()

    def close(self) -> None:
        self.flush()
        os.close(self._fd)

    def _append(self, event: Event) -> None:
        self._sequence += 1
        line = {
            "time_ms": self._wall_ms(),
            "sequence": self._sequence,
            "broker": self._broker_id,
            "what": event.what,
            "subject": event.subject,
            "epoch": event.epoch,
            "before": event.before,
            "after": event.after,
            "why": event.why,
            "caused_by": event.caused_by,
        }
        present = {key: value for key, value in line.items() if value is not None}
        self._lines.append(json.dumps(present, default=str) + "\n")

    def _write(self, content: bytes) -> None:
        if self._size and self._size + len(content) > self._max_bytes:
            self._rotate()
        start = self._size
        self._size += os.write(self._fd, content)
        if self._size - start < len(content):
            os.ftruncate(self._fd, start)  # no half line for the next one to run into
            self._size = start
            raise OSError("short write")

    def _rotate(self) -> None:
        os.replace(self._path, self._previous)
        os.close(self._fd)
        self._fd = _open(self._path)
        self._size = 0


def _open(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)


def _cut_half_line(path: Path) -> None:
    """Remove what a crash left without its line's end, or the next line would be lost with it."""
    tail, start = _tail(path)
    if tail and not tail.endswith(b"\n"):
        os.truncate(path, start + tail.rfind(b"\n") + 1)


def _last_sequence(path: Path) -> int:
    """Of the file's last line; 0 where there is none."""
    for line in reversed(_tail(path)[0].splitlines()):
        try:
            return int(json.loads(line)["sequence"])
        except (ValueError, KeyError, TypeError):
            continue  # not ours: look further up
    return 0


def _tail(path: Path) -> tuple[bytes, int]:
    """The file's last bytes, and where they start; nothing and 0 without a file."""
    try:
        with path.open("rb") as file:
            start = file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return file.read(), start
    except FileNotFoundError:
        return b"", 0
