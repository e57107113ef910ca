"""What happened, in order: the last events for a failure, all of them for a comparison."""

from __future__ import annotations

from collections import Counter, deque

from logquake.seams.journal import Event
from tests.sim.clock import Clock

SHOWN = 40


class Trace:
    """``counts`` has how often each kind of broker event occurred; a run must not be vacuous."""

    def __init__(self, clock: Clock, *, keep_all: bool = False) -> None:
        self._clock = clock
        self.entries: deque[tuple[int, str]] = deque(maxlen=None if keep_all else SHOWN)
        self.counts: Counter[str] = Counter()

    def add(self, what: str) -> None:
        self.entries.append((self._clock.now_us, what))

    def text(self, last: int | None = None) -> str:
        """The last entries that are kept, or all of them, one a line."""
        shown = list(self.entries)[-last if last else None :]
        return "\n".join(f"{at_us / 1000:10.3f} ms  {what}" for at_us, what in shown)


class TraceJournal:
    """The Journal of one broker, written into the trace."""

    def __init__(self, trace: Trace, broker: str) -> None:
        self._trace = trace
        self._broker = broker
        self._sequence = 0

    def record(self, event: Event) -> int:
        self._sequence += 1
        self._trace.counts[event.what] += 1
        change = "" if event.before is None else f" {event.before} -> {event.after}"
        self._trace.add(f"{self._broker}: {event.what} {event.subject}{change} ({event.why})")
        return self._sequence
