"""The card for people: a line for each fault and client, then calm times and the whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from logquake.chaos.card.card import Card, Figures
from logquake.cluster.observing.tables import as_text

COLUMNS = (
    "fault",
    "client",
    "longest without success",
    "well again after",
    "failed",
    "sent again",
    "requests/s",
    "rebalances",
    "twice",
    "reordered",
)
_SHOWN_APIS = 2


def as_table(card: Card) -> str:
    return as_text(COLUMNS, list(_rows(card)))


def _rows(card: Card) -> Iterator[tuple[str, ...]]:
    for fault in card.faults:
        lasting = "could not be done" if fault.refused else f"for {fault.lasting_s:.1f} s"
        where = f"{fault.begins_s:.1f} s {fault.kind} {fault.subject} {lasting}"
        for client, figures in fault.clients.items():
            usual = card.calm.get(client, Figures()).requests_per_s
            yield where, client, *cells(figures, usual)
            where = ""
    for title, by_client in (("in calm times", card.calm), ("in all", card.total)):
        for client, figures in by_client.items():
            yield title, client, *cells(figures, {})
            title = ""


def cells(figures: Figures, usual: Mapping[str, int]) -> tuple[str, ...]:
    """From the third of COLUMNS on; ``usual`` are requests a second in calm times."""
    recovered = {
        name: "never" if ms is None else "at once" if ms == 0 else duration(ms)
        for name, ms in figures.recovered_ms.items()
    }
    return (
        _parts({name: duration(ms) for name, ms in figures.unavailable_ms.items()}),
        _parts(recovered),
        _parts({name: str(times) for name, times in figures.failed.items()}),
        str(figures.retries),
        _parts(_peaks(figures.requests_per_s, usual)),
        str(figures.rebalances),
        str(figures.duplicates),
        str(figures.reordered),
    )


def _peaks(peaks: Mapping[str, int], usual: Mapping[str, int]) -> dict[str, str]:
    """Those that grew most over calm times."""
    grown = sorted(peaks, key=lambda api: peaks[api] / max(1, usual.get(api, 0)), reverse=True)
    return {api: str(peaks[api]) for api in grown[:_SHOWN_APIS]}


def _parts(texts: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {text}" for name, text in texts.items()) or "-"


def duration(ms: int) -> str:
    """``812 ms``, ``1.2 s``."""
    return f"{ms} ms" if ms < 1000 else f"{ms / 1000:.1f} s"
