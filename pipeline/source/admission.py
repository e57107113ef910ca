"""How much of what is there a batch of a stream takes: the connector's rules, pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Self

from logquake.pipeline.source.planning import Offsets
from logquake.wire.topic_partition import TopicPartition

Document = dict[str, dict[str, int]]
"""Offsets as the connector writes them into checkpoints: ``{"orders": {"0": 23}}``."""


GOES_ON_BY = "failOnDataLoss=false"


class DataLossError(Exception):
    """Records that the query has not read are gone; with failOnDataLoss=false it goes on."""

    @classmethod
    def of(cls, lost: Iterable[str]) -> Self:
        return cls(f"{'; '.join(lost)} ({GOES_ON_BY} goes on without)")


def to_document(offsets: Offsets) -> Document:
    document: Document = {}
    for at, offset in sorted(offsets.items()):
        document.setdefault(at.topic, {})[str(at.partition)] = offset
    return document


def from_document(document: Document) -> dict[TopicPartition, int]:
    return {
        TopicPartition(topic, int(partition)): offset
        for topic, partitions in document.items()
        for partition, offset in partitions.items()
    }


def available(starts: Offsets, ends: Offsets) -> int:
    """How many offsets lie between the two."""
    return sum(size for _, size in _sizes(starts, ends))


def admitted(starts: Offsets, ends: Offsets, limit: int) -> Offsets:
    """The ends of a batch of about ``limit`` offsets: of each partition its share, at least one."""
    total = available(starts, ends)
    if total <= limit:
        return ends
    taken = {at: _share(size, limit, total) for at, size in _sizes(starts, ends)}
    return {
        at: min(end, starts[at] + taken[at]) if at in taken else end for at, end in ends.items()
    }


def _share(size: int, limit: int, total: int) -> int:
    share = limit * size / total
    return math.ceil(share) if share < 1 else math.floor(share)


def _sizes(starts: Offsets, ends: Offsets) -> Iterator[tuple[TopicPartition, int]]:
    for at, end in ends.items():
        size = end - starts.get(at, end)
        if size > 0:
            yield at, size


def missed(starts: Offsets, earliest: Offsets) -> Iterator[str]:
    """What partitions that came later had lost before anybody knew of them."""
    for at, begins in sorted(earliest.items()):
        if at not in starts and begins > 0:
            yield f"{at} came later, and has lost offsets 0 to {begins - 1}: it begins at {begins}"


def losses(starts: Offsets, ends: Offsets, earliest: Offsets) -> Iterator[str]:
    """What lies between ``starts`` and ``ends`` and cannot be read any more, by partition.

    ``ends`` lacks partitions that are gone; ``earliest`` is where each log begins.
    """
    for at, start in sorted(starts.items()):
        end = ends.get(at)
        if end is None:
            yield f"{at} is gone, with all from offset {start} on"
        elif end < start:
            yield f"{at} ends at offset {end}, and was read up to {start}: cut off, or made anew"
        elif start < min(earliest.get(at, start), end):
            gone_to = min(earliest[at], end) - 1
            yield f"{at} has lost offsets {start} to {gone_to}: its log begins at {earliest[at]}"
