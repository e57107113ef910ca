"""What of a card's figures is too much: for a gate in front of a release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields

from logquake.chaos.card.card import Card, Figures
from logquake.cluster.errors import ClusterError

NAMES = tuple(each.name for each in fields(Figures))


@dataclass(frozen=True, slots=True)
class Limit:
    """``at_most`` of a figure; of one of its parts, an operation or an API, where one is named."""

    figure: str
    part: str | None
    at_most: float

    def __str__(self) -> str:
        part = "" if self.part is None else f".{self.part}"
        return f"{self.figure}{part}={self.at_most:g}"


def limit_of(text: str) -> Limit:
    """``unavailable_ms=5000``, ``requests_per_s.Metadata=50``. Raises ClusterError."""
    name, separator, number = text.partition("=")
    figure, _, part = name.partition(".")
    if not separator or figure not in NAMES:
        raise ClusterError(f"{text!r} is no limit: NAME=NUMBER, of {', '.join(NAMES)}")
    try:
        return Limit(figure, part or None, float(number))
    except ValueError:
        raise ClusterError(f"{text!r} is no limit: {number!r} is no number") from None


def exceeded(card: Card, limits: Iterable[Limit]) -> Iterator[str]:
    """In words, for each fault; what lies in topics twice or late is counted in all, too."""
    limits = list(limits)
    for fault in card.faults:
        for client, figures in fault.clients.items():
            where = f"{client}, {fault.kind} {fault.subject} at {fault.begins_s:.1f} s"
            yield from _exceeded(where, figures, limits)
    stored = [limit for limit in limits if limit.figure in ("duplicates", "reordered")]
    for client, figures in card.total.items():
        yield from _exceeded(f"{client}, in all", figures, stored)


def _exceeded(where: str, figures: Figures, limits: Iterable[Limit]) -> Iterator[str]:
    for limit in limits:
        for part, value in _values(figures, limit):
            of_part = "" if part is None else f" ({part})"
            if value is None:
                yield f"{where}: {limit.figure}{of_part}: not again within its time"
            elif value > limit.at_most:
                yield f"{where}: {limit.figure}{of_part} is {value:g}, {limit.at_most:g} at most"


def _values(figures: Figures, limit: Limit) -> Iterator[tuple[str | None, float | None]]:
    value = getattr(figures, limit.figure)
    if not isinstance(value, Mapping):
        yield None, value
        return
    for part, each in value.items():
        if limit.part in (None, part):
            yield part, each
