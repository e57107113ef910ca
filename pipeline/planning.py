"""What a read covers: every partition's range of offsets, cut into one range a task.

Runs on the driver, once a query. The ends are fixed here, so that a query reads the same records
however long its tasks take.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from logquake.client.admin import Admin
from logquake.client.offsets import FoundOffset, list_offsets
from logquake.client.routing import Router
from logquake.pipeline.options import Bound, OptionError, ReadOptions
from logquake.wire.sentinels import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, UNKNOWN_OFFSET


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """Records of one partition with start <= offset < end."""

    topic: str
    partition: int
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


def plan_ranges(router: Router, options: ReadOptions) -> list[OffsetRange]:
    """The ranges to read, none of them empty, ordered by topic, partition and offset.

    Raises ClientError, and OptionError where the options do not fit the topics.
    """
    ranges: list[OffsetRange] = []
    for topic, partitions in sorted(_select(Admin(router), options).items()):
        starts = _resolve(router, topic, partitions, options.starting, options, is_start=True)
        ends = _resolve(router, topic, partitions, options.ending, options, is_start=False)
        ranges += [OffsetRange(topic, p, starts[p], ends[p]) for p in partitions]
    return split_ranges([whole for whole in ranges if whole.size > 0], options.min_partitions)


def split_ranges(ranges: Sequence[OffsetRange], min_partitions: int) -> list[OffsetRange]:
    """Cut the large ones so that about min_partitions result, at least one of each."""
    total = sum(whole.size for whole in ranges)
    if len(ranges) >= min_partitions or not total:
        return list(ranges)
    return [
        piece
        for whole in ranges
        for piece in _split(whole, max(1, round(whole.size * min_partitions / total)))
    ]


def _split(whole: OffsetRange, count: int) -> Iterable[OffsetRange]:
    count = min(count, whole.size)
    cuts = [whole.start + whole.size * index // count for index in range(count + 1)]
    for start, end in pairwise(cuts):
        yield OffsetRange(whole.topic, whole.partition, start, end)


def _select(admin: Admin, options: ReadOptions) -> dict[str, list[int]]:
    """The partitions to read of each topic."""
    if options.assigned is not None:
        return {topic: sorted(partitions) for topic, partitions in options.assigned.items()}
    names: Sequence[str]
    if options.topics is not None:
        names = options.topics
    else:
        pattern = re.compile(options.topic_pattern or "")
        names = [name for name in admin.list_topics() if pattern.fullmatch(name)]
    if not names:
        return {}
    return {
        topic.name: [partition.index for partition in topic.partitions]
        for topic in admin.describe_topics(names)
    }


def _resolve(
    router: Router,
    topic: str,
    partitions: Sequence[int],
    bound: Bound,
    options: ReadOptions,
    *,
    is_start: bool,
) -> dict[int, int]:
    """A real offset for each partition, the ones given by number as they are."""
    wanted = {partition: bound.at(topic, partition) for partition in partitions}
    to_ask = {
        p: at
        for p, at in wanted.items()
        if bound.is_time or at in (EARLIEST_TIMESTAMP, LATEST_TIMESTAMP)
    }
    found = list_offsets(router, topic, to_ask, isolation=options.isolation)
    if bound.is_time:
        return _offsets_at_times(router, topic, found, options, is_start=is_start)
    return wanted | {partition: at.offset for partition, at in found.items()}


def _offsets_at_times(
    router: Router,
    topic: str,
    found: Mapping[int, FoundOffset],
    options: ReadOptions,
    *,
    is_start: bool,
) -> dict[int, int]:
    """A time later than every record means the end of the log, if the options let it."""
    late = sorted(partition for partition, at in found.items() if at.offset == UNKNOWN_OFFSET)
    if late and is_start and not options.late_start_is_latest:
        raise OptionError(f"no record of {topic} {late} is as late as the starting time")
    latest = list_offsets(
        router, topic, dict.fromkeys(late, LATEST_TIMESTAMP), isolation=options.isolation
    )
    return {partition: at.offset for partition, at in {**found, **latest}.items()}
