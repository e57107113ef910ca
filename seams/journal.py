"""The event schema that every process of a cluster writes, one JSON object a line.

An event says why: "ISR shrank to [1,3]: broker 2 last caught up 2014 ms ago, log end 812 against
960".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self


class EventKind(str):
    """The name of a kind of event, with its cause and what to do about it, for people.

    Each is declared once, in the module journal_events of the room that records it.
    """

    cause: str
    remedy: str

    def __new__(cls, name: str, *, cause: str, remedy: str) -> Self:
        kind = super().__new__(cls, name)
        kind.cause, kind.remedy = cause, remedy
        return kind

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, str]]:
        """What a copy in another process is made of."""
        return (str(self),), {"cause": self.cause, "remedy": self.remedy}


@dataclass(frozen=True, slots=True)
class Event:
    """What happened; the journal adds time (ms), sequence number and broker id.

    ``subject`` is what it happened to: a topic-partition "orders-3", "broker-2", "controller".
    ``before`` and ``after`` are JSON values; ``caused_by`` is the sequence number of an earlier
    event of the same process, or None.
    """

    what: EventKind
    subject: str
    why: str
    before: Any = None
    after: Any = None
    epoch: int | None = None
    caused_by: int | None = None


class Journal(Protocol):
    def record(self, event: Event) -> int:
        """Append the event; its sequence number, to be given as a later event's cause."""
