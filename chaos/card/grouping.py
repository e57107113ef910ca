"""A card's faults one by one; or, where they are many, the worst that those of each kind did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from logquake.chaos.card.card import Card, FaultEntry, Figures

MOST_FAULTS = 24


class Group(NamedTuple):
    """One fault, or those of a kind, as ``title`` says; their figures by client."""

    title: str
    clients: Mapping[str, Figures]


def grouped(card: Card, most: int = MOST_FAULTS) -> list[Group]:
    """What could not be done is left out."""
    done = [fault for fault in card.faults if fault.refused is None]
    if len(done) <= most:
        return [Group(_title(fault), fault.clients) for fault in done]
    kinds: dict[str, list[FaultEntry]] = {}
    for fault in done:
        kinds.setdefault(fault.kind, []).append(fault)
    return [
        Group(f"{kind}, the worst of {len(faults)}", _worst_of(faults))
        for kind, faults in sorted(kinds.items())
    ]


def _title(fault: FaultEntry) -> str:
    return f"{fault.begins_s:.1f} s: {fault.kind} {fault.subject} for {fault.lasting_s:.1f} s"


def _worst_of(faults: Iterable[FaultEntry]) -> dict[str, Figures]:
    found: dict[str, list[Figures]] = {}
    for fault in faults:
        for client, figures in fault.clients.items():
            found.setdefault(client, []).append(figures)
    return {client: worst(each) for client, each in sorted(found.items())}


def worst(all_figures: Iterable[Figures]) -> Figures:
    """Of each figure the largest; never to recover is longer than any time."""
    every = list(all_figures)
    recovered: dict[str, int | None] = {}
    for figures in every:
        for operation, ms in figures.recovered_ms.items():
            known = recovered.get(operation, 0)
            recovered[operation] = None if ms is None or known is None else max(ms, known)
    return Figures(
        unavailable_ms=_largest(figures.unavailable_ms for figures in every),
        recovered_ms=recovered,
        failed=_largest(figures.failed for figures in every),
        retries=max((figures.retries for figures in every), default=0),
        requests_per_s=_largest(figures.requests_per_s for figures in every),
        rebalances=max((figures.rebalances for figures in every), default=0),
        duplicates=max((figures.duplicates for figures in every), default=0),
        reordered=max((figures.reordered for figures in every), default=0),
    )


def _largest(tables: Iterable[Mapping[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for table in tables:
        for name, number in table.items():
            found[name] = max(number, found.get(name, 0))
    return found
