"""A journal to be read by the test, and one that nobody reads."""

from __future__ import annotations

from logquake.seams.journal import Event


class NoJournal:
    """For who measures something else."""

    def record(self, _event: Event) -> int:
        return 0


class MemoryJournal:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def record(self, event: Event) -> int:
        self.events.append(event)
        return len(self.events)

    def of(self, what: str) -> list[Event]:
        return [event for event in self.events if event.what == what]
