"""The figures of a card, as values and as a document of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Figures:
    """What one client did in one stretch of time.

    unavailable_ms      the longest time without a success, by operation
    recovered_ms        by operation: from the fault's beginning until successes came again as they
                        do in calm times; 0 where they never stopped, None where they did not again
    failed              requests, or sends, by the error that they met
    retries             batches that were sent again as they were
    requests_per_s      the most within a second, by API
    rebalances          generations of groups that it joined
    duplicates          records that are in their topic twice
    reordered           records that lie behind one that was made later
    """

    unavailable_ms: Mapping[str, int] = field(default_factory=dict)
    recovered_ms: Mapping[str, int | None] = field(default_factory=dict)
    failed: Mapping[str, int] = field(default_factory=dict)
    retries: int = 0
    requests_per_s: Mapping[str, int] = field(default_factory=dict)
    rebalances: int = 0
    duplicates: int = 0
    reordered: int = 0


@dataclass(frozen=True, slots=True)
class FaultEntry:
    """``begins_s`` counts from the run's first row; ``refused`` says why it could not be done."""

    kind: str
    subject: str
    details: str
    begins_s: float
    lasting_s: float
    refused: str | None
    clients: Mapping[str, Figures]


@dataclass(frozen=True, slots=True)
class Card:
    """``calm`` is outside of all faults and what follows them, ``total`` the whole of it."""

    faults: tuple[FaultEntry, ...]
    calm: Mapping[str, Figures]
    total: Mapping[str, Figures]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Card:
        return cls(
            tuple(
                FaultEntry(**{**one, "clients": _by_client(one["clients"])})
                for one in document["faults"]
            ),
            _by_client(document["calm"]),
            _by_client(document["total"]),
        )


def _by_client(document: Mapping[str, Any]) -> dict[str, Figures]:
    return {client: Figures(**figures) for client, figures in document.items()}
