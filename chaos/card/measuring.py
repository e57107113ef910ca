"""What clients did, and the faults, to figures."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from logquake.chaos.card.card import Card, FaultEntry, Figures
from logquake.chaos.card.clients import Attempts, Client, Clients, Failure
from logquake.chaos.history.fault_spans import FaultSpan, FaultSpans
from logquake.chaos.history.rows import Row

SECOND_US = 1_000_000
# How long after a fault what happens is put down to it: clients' own back-offs end within this.
AFTERMATH_US = 10 * SECOND_US
# What was made so long before a fault was on its way when it began, and may be sent again.
IN_FLIGHT_US = SECOND_US
# Shorter pauses are no outage, however steady a client is in calm times.
SHORTEST_OUTAGE_US = SECOND_US // 2


class Stretch(NamedTuple):
    begins_us: int
    ends_us: int

    def of(self, moments: Sequence[int]) -> Sequence[int]:
        """Those within it, of sorted ones."""
        return moments[bisect_left(moments, self.begins_us) : bisect_right(moments, self.ends_us)]


def card_of(rows: Iterable[Row]) -> Card:
    """``rows`` by time."""
    measuring = Measuring()
    for row in rows:
        measuring.take(row)
    return measuring.card()


class Measuring:
    """take() rows by time; card() once, when there are no more."""

    def __init__(self) -> None:
        self._clients, self._spans = Clients(), FaultSpans()
        self._first_us = self._last_us = 0

    def take(self, row: Row) -> None:
        self._first_us = self._first_us or row.at_us
        self._last_us = max(self._last_us, row.at_us)
        self._clients.take(row)
        self._spans.take(row)

    def card(self) -> Card:
        known = {name: one for name, one in sorted(self._clients.by_name.items()) if one.is_known}
        for client in known.values():
            _sort(client)
        whole = Stretch(self._first_us, self._last_us)
        return _measured(known, list(self._spans.all(self._last_us)), whole)


def _sort(client: Client) -> None:
    """Rows came in the order of answers, and what topics hold in no order of time."""
    for api, asked in client.asked_us.items():
        client.asked_us[api] = array("q", sorted(asked))
    for attempts in (*client.told.values(), *client.seen.values()):
        attempts.sort()
    for name in ("retries_us", "duplicates_us", "reordered_us"):
        setattr(client, name, array("q", sorted(getattr(client, name))))


def _measured(clients: Mapping[str, Client], spans: list[FaultSpan], whole: Stretch) -> Card:
    stretches = [
        Stretch(span.begun.at_us, min(span.ends_us + AFTERMATH_US, whole.ends_us)) for span in spans
    ]
    calm = list(_calm(stretches, whole))
    usual_us = {name: _usual_gaps(client, calm) for name, client in clients.items()}
    return Card(
        faults=tuple(
            _entry(span, whole, _by_fault(clients, stretch, usual_us))
            for span, stretch in zip(spans, stretches, strict=True)
        ),
        calm={name: _figures(client, calm, {}) for name, client in clients.items()},
        total={name: _figures(client, [whole], {}) for name, client in clients.items()},
    )


def _entry(span: FaultSpan, whole: Stretch, clients: Mapping[str, Figures]) -> FaultEntry:
    begun_us = span.begun.at_us
    return FaultEntry(
        span.kind,
        span.begun.subject,
        span.details,
        _seconds(begun_us - whole.begins_us),
        _seconds(span.ends_us - begun_us),
        span.refused,
        clients,
    )


def _by_fault(
    clients: Mapping[str, Client], stretch: Stretch, usual_us: Mapping[str, Mapping[str, int]]
) -> dict[str, Figures]:
    return {
        name: _figures(client, [stretch], _recovered(client, stretch, usual_us[name]))
        for name, client in clients.items()
        if _is_active(client, stretch)
    }


def _calm(broken: Iterable[Stretch], whole: Stretch) -> Iterator[Stretch]:
    """What is between, of those that come by their beginnings."""
    at = whole.begins_us
    for stretch in broken:
        if stretch.begins_us > at:
            yield Stretch(at, stretch.begins_us)
        at = max(at, stretch.ends_us)
    if whole.ends_us > at:
        yield Stretch(at, whole.ends_us)


def _usual_gaps(client: Client, calm: Sequence[Stretch]) -> dict[str, int]:
    return {
        operation: max(
            (end - begin for one in calm for begin, end in pairwise(one.of(attempts.ok_us))),
            default=0,
        )
        for operation, attempts in client.attempts.items()
    }


def _is_active(client: Client, stretch: Stretch) -> bool:
    moments = chain(client.asked_us.values(), *client.attempts.values())
    return any(len(stretch.of(each)) for each in moments)


def _figures(
    client: Client, stretches: Sequence[Stretch], recovered: Mapping[str, int | None]
) -> Figures:
    unavailable = {
        str(operation): max(lengths) // 1000
        for operation, attempts in client.attempts.items()
        if (lengths := [gap.us for one in stretches for gap in _gaps(attempts, one)])
    }
    failed = Counter[str]()
    for stretch in stretches:
        for failure in _within(client.failures, stretch):
            failed[failure.error] += failure.times
    made = [Stretch(begin - IN_FLIGHT_US, end - IN_FLIGHT_US) for begin, end in stretches]
    return Figures(
        unavailable_ms=unavailable,
        recovered_ms=recovered,
        failed=dict(sorted(failed.items())),
        retries=_count(client.retries_us, stretches),
        requests_per_s={
            api: peak
            for api, asked in sorted(client.asked_us.items())
            if (peak := max((_peak(one.of(asked)) for one in stretches), default=0))
        },
        rebalances=_count(client.rebalances_us, stretches),
        duplicates=_count(client.duplicates_us, made),
        reordered=_count(client.reordered_us, made),
    )


def _within(failures: Sequence[Failure], stretch: Stretch) -> Sequence[Failure]:
    """They come by time."""
    begin = bisect_left(failures, stretch.begins_us, key=lambda one: one.at_us)
    return failures[begin : bisect_right(failures, stretch.ends_us, key=lambda one: one.at_us)]


class _Gap(NamedTuple):
    """Without a success; ``is_over`` if one came."""

    us: int
    ends_us: int
    is_over: bool


def _gaps(attempts: Attempts, stretch: Stretch) -> Iterator[_Gap]:
    """From when the client tried, within the stretch, until it tried last; none if it never did."""
    within = [moments for each in attempts if (moments := stretch.of(each))]
    if not within:
        return
    first, last = min(each[0] for each in within), max(each[-1] for each in within)
    had_tried = any(len(each) and each[0] < stretch.begins_us for each in attempts)
    at = stretch.begins_us if had_tried else first
    for moment in stretch.of(attempts.ok_us):
        yield _Gap(moment - at, moment, is_over=True)
        at = moment
    if last > at:
        yield _Gap(last - at, last, is_over=False)


def _recovered(
    client: Client, stretch: Stretch, usual_us: Mapping[str, int]
) -> dict[str, int | None]:
    recovered: dict[str, int | None] = {}
    for operation, attempts in client.attempts.items():
        outage_us = max(usual_us[operation], SHORTEST_OUTAGE_US)
        gaps = list(_gaps(attempts, stretch))
        outages = [gap for gap in gaps if gap.us > outage_us]
        if outages:
            last = outages[-1]
            recovered[operation] = (
                (last.ends_us - stretch.begins_us) // 1000 if last.is_over else None
            )
        elif gaps:
            recovered[operation] = 0
    return recovered


def _peak(asked: Sequence[int]) -> int:
    """The most within one second."""
    most, first = 0, 0
    for place, moment in enumerate(asked):
        while moment - asked[first] >= SECOND_US:
            first += 1
        most = max(most, place - first + 1)
    return most


def _count(moments: Sequence[int], stretches: Iterable[Stretch]) -> int:
    return sum(len(stretch.of(moments)) for stretch in stretches)


def _seconds(us: int) -> float:
    return round(us / SECOND_US, 3)
