"""Clients' report cards on the page: which fault kept whom waiting for how long, at a glance; and a
table of all figures for each client.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from logquake.chaos.card.card import Card, Figures
from logquake.chaos.card.grouping import Group, grouped
from logquake.chaos.card.table import COLUMNS, cells, duration

# From so many milliseconds without a success on, a cell is of the next shade.
_SHADES_MS = (500, 2_000, 5_000, 15_000)
HEADINGS = (COLUMNS[0], *COLUMNS[2:])


class Cell(NamedTuple):
    """``shade`` from 0, which is calm, to 4."""

    text: str
    shade: int
    tip: str


class ClientTable(NamedTuple):
    """Rows as wide as HEADINGS."""

    client: str
    rows: Sequence[Sequence[str]]


class CardTables(NamedTuple):
    """``waits`` has a title and a cell for each of the clients."""

    clients: Sequence[str]
    waits: Sequence[tuple[str, Sequence[Cell]]]
    tables: Sequence[ClientTable]


def card_tables(card: Card) -> CardTables:
    groups = grouped(card)
    names = list(card.total)
    return CardTables(
        names,
        [(one.title, [_cell(one.clients.get(name)) for name in names]) for one in groups],
        [ClientTable(name, list(_rows(card, groups, name))) for name in names],
    )


def _cell(figures: Figures | None) -> Cell:
    if figures is None or not figures.unavailable_ms:
        return Cell("", 0, "it did nothing then")
    longest = max(figures.unavailable_ms.values())
    said = dict(zip(HEADINGS[1:], cells(figures, {}), strict=True))
    return Cell(
        duration(longest),
        sum(longest >= shade_ms for shade_ms in _SHADES_MS),
        "; ".join(f"{heading}: {text}" for heading, text in said.items() if text not in ("-", "0")),
    )


def _rows(card: Card, groups: Sequence[Group], client: str) -> Iterator[tuple[str, ...]]:
    calm = card.calm.get(client, Figures())
    for one in groups:
        if client in one.clients:
            yield one.title, *cells(one.clients[client], calm.requests_per_s)
    yield "in calm times", *cells(calm, {})
    yield "in all", *cells(card.total[client], {})
