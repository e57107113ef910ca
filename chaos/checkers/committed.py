"""Up to where each partition was committed, over time, as clients and the harness were told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from logquake.chaos.checkers.case import END_US, Case
from logquake.chaos.evidence.clients import Column

# Times in us, and the ends of what was committed by then.
Times = tuple[Column, Column]


def committed_of(case: Case) -> Mapping[str, Times]:
    """Of each partition, both rising.

    Committed is what was acked with a promise, read by somebody, or below a high watermark that the
    leader of that epoch told.
    """
    parts: dict[str, list[Times]] = defaultdict(list)
    for partition, times in _told(case):
        parts[partition].append(times)
    return {partition: _rising(pieces) for partition, pieces in parts.items()}


def _told(case: Case) -> Iterator[tuple[str, Times]]:
    sends, polls = case.clients.sends, case.clients.polls
    for partition, at in case.by_partition(case.is_promised):
        yield partition, (sends.answered_us[at], sends.offset[at] + 1)
    for partition, runs in case.runs.items():
        yield partition, (polls.at_us[runs], polls.last[runs] + 1)
    looks: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for look in case.clients.looks:
        if look.offset is not None:
            looks[look.subject].append((look.at_us, look.offset))
    for partition, seen in looks.items():
        times = np.array(seen, np.int64)
        yield partition, (times[:, 0], times[:, 1])


def _rising(pieces: Iterable[Times]) -> Times:
    times, ends = (np.concatenate(each) for each in zip(*pieces, strict=True))
    order = np.argsort(times, kind="stable")
    return times[order], np.maximum.accumulate(ends[order])


def committed_before(case: Case, partition: str, at_us: int = END_US) -> int:
    """Up to where the partition was committed before that moment; 0 if nothing is known."""
    times, ends = case.once(committed_of).get(partition, (np.empty(0), np.empty(0)))
    at = int(np.searchsorted(times, at_us))
    return int(ends[at - 1]) if at else 0
