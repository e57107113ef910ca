"""How far readers and replicas were behind, over time, out of what was seen now and then.

Between two looks everything stands where it stood: a broker that is dead, or a reader that hangs,
falls behind by what is written meanwhile.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from logquake.chaos.history.rows import Row

Standings = Sequence[tuple[float, int]]
"""Seconds, and by how many records."""


def lags_of_readers(
    looks: Iterable[Row],
    handed_out: Iterable[tuple[str, str, int, int]],
    ends_s: Mapping[str, float],
    seconds: Callable[[int], float],
) -> dict[str, Standings]:
    """By group, or reader without one: high watermarks less what it was handed, all partitions
    together, from its first record of each to its end.
    """
    marks = [(seconds(row.at_us), row.subject, row.offset or 0) for row in looks]
    by_reader: dict[str, list[tuple[float, str, int]]] = defaultdict(list)
    for who, partition, position, at_us in handed_out:
        by_reader[who].append((seconds(at_us), partition, position))
    return {
        who: _behind(marks, sorted(polls), ends_s.get(who, float("inf")))
        for who, polls in sorted(by_reader.items())
    }


def _behind(
    marks: Iterable[tuple[float, str, int]], polls: Sequence[tuple[float, str, int]], end_s: float
) -> Standings:
    found: list[tuple[float, int]] = []
    high: dict[str, int] = {}
    at: dict[str, int] = {}
    changes = [(*mark, high) for mark in marks] + [(*poll, at) for poll in polls]
    for at_s, partition, offset, places in sorted(changes, key=lambda one: one[0]):
        if at_s > end_s:
            break
        places[partition] = max(offset, places.get(partition, 0))
        if at:
            lag = sum(max(0, high.get(name, 0) - place) for name, place in at.items())
            _note(found, at_s, lag)
    return found


def lags_of_replicas(looks: Iterable[Row], seconds: Callable[[int], float]) -> dict[str, Standings]:
    """By broker: what the longest log of each partition has more than its own, all together."""
    found: dict[str, list[tuple[float, int]]] = defaultdict(list)
    ends: dict[str, dict[str, int]] = defaultdict(dict)
    for row in looks:
        ends[row.subject].update(row.after.get("log_ends") or {})
        behind: dict[str, int] = defaultdict(int)
        for of_brokers in ends.values():
            longest = max(of_brokers.values(), default=0)
            for broker, end in of_brokers.items():
                behind[broker] += longest - end
        for broker, lag in behind.items():
            _note(found[f"broker {broker}"], seconds(row.at_us), lag)
    return dict(sorted(found.items()))


def _note(standings: list[tuple[float, int]], at_s: float, lag: int) -> None:
    """Of two at one moment the later counts."""
    if standings and standings[-1][0] == at_s:
        standings.pop()
    standings.append((at_s, lag))
