"""A journal to be read by the test."""

from __future__ import annotations

from logquake.seams.journal import Event


class MemoryJournal:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def record(self, event: Event) -> int:
        self.events.append(event)
        return len(self.events)

    def of(self, what: str) -> list[Event]:
        return [event for event in self.events if event.what == what]
