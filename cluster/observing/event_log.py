"""The brokers' events and output, merged for reading.

Events carry the time; a line that a broker printed (a refusal, a traceback) comes after the events
that were there when it was read.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import Layout
from logquake.cluster.state import broker_name

FOLLOW_INTERVAL_S = 0.2
_AFTER_ALL_EVENTS_MS = 1 << 62


@dataclass(frozen=True, slots=True, order=True)
class _Line:
    time_ms: int
    text: str
    is_internal: bool = False  # about a topic of the brokers' own


class EventLog:
    """Of one broker, or of all with None. Raises ClusterError when there is nothing to read."""

    def __init__(self, layout: Layout, broker_id: int | None) -> None:
        wanted = "broker-*" if broker_id is None else broker_name(broker_id)
        self._events = sorted(layout.events.glob(f"{wanted}.jsonl"))
        self._printed = sorted(layout.log_of("broker-0").parent.glob(f"{wanted}.log"))
        if not self._events and not self._printed:
            raise ClusterError(f"there are no logs of {wanted} in {layout.root}: see logquake up")
        self._positions: dict[Path, int] = {}

    def lines(self, since_ms: int = 0, *, internal: bool = True) -> Iterator[str]:
        """What is there and was not read before, of events those from the wall clock's time on.

        ``internal`` is whether those of the coordinators' topics are wanted too: they are many.
        """
        found = [_event(line) for path in self._events for line in self._read(path)]
        found += [
            _Line(_AFTER_ALL_EVENTS_MS, f"{path.stem}: {line}")
            for path in self._printed
            for line in self._read(path)
        ]
        for line in sorted(found, key=lambda one: one.time_ms):
            if line.time_ms >= since_ms and (internal or not line.is_internal):
                yield line.text

    def follow(self) -> Iterator[str]:
        """Never ends."""
        while True:
            yield from self.lines()
            time.sleep(FOLLOW_INTERVAL_S)

    def _read(self, path: Path) -> list[str]:
        """Whole lines since the last time."""
        start = self._positions.get(path, 0)
        if path.stat().st_size < start:  # the journal reached its bound and began anew
            start = 0
        with path.open("rb") as file:
            file.seek(start)
            *whole, rest = file.read().split(b"\n")
            self._positions[path] = file.tell() - len(rest)
        return [line.decode(errors="replace") for line in whole]


def _event(line: str) -> _Line:
    try:
        event = json.loads(line)
        time_ms, what, subject = int(event["time_ms"]), event["what"], event["subject"]
    except (ValueError, KeyError, TypeError):
        return _Line(0, line)
    moment = datetime.fromtimestamp(time_ms / 1000).astimezone()
    clock = moment.strftime("%H:%M:%S.") + f"{time_ms % 1000:03d}"
    change = f" {event.get('before')} -> {event['after']}" if "after" in event else ""
    text = f"{clock} broker-{event['broker']} {what} {subject}{change}: {event['why']}"
    return _Line(time_ms, text, str(subject).startswith("__"))
