"""What a read covers: every partition's range of offsets, cut into one range a task.

Runs on the driver, once a query. The ends are fixed here, so that a query reads the same records
however long its tasks take.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from logquake.client.offsets import FoundOffset, list_offsets
from logquake.client.routing import Router
from logquake.client.topics import Admin
from logquake.pipeline.option_values import OptionError
from logquake.pipeline.options import Bound, ReadOptions
from logquake.wire.sentinels import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition

Offsets = Mapping[TopicPartition, int]


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
    """A range of each partition, none of them empty, ordered by topic and partition.

    Raises ClientError, and OptionError where the options do not fit the topics.
    """
    selected = select(router, options)
    starts = resolve(router, selected, options.starting, options, is_start=True)
    ends = resolve(router, selected, options.ending, options, is_start=False)
    return ranges_between(starts, ends)


def ranges_between(starts: Offsets, ends: Offsets) -> list[OffsetRange]:
    ranges = (OffsetRange(*at, starts[at], ends[at]) for at in sorted(ends) if at in starts)
    return [whole for whole in ranges if whole.size > 0]


def cut_ranges(ranges: Sequence[OffsetRange], options: ReadOptions) -> list[OffsetRange]:
    """A range a task, of the sizes that the options ask for."""
    pieces = limit_ranges(ranges, options.max_records_per_partition)
    return split_ranges(pieces, options.min_partitions)


def later_ranges(
    router: Router, ranges: Sequence[OffsetRange], since_ms: int, options: ReadOptions
) -> list[OffsetRange]:
    """What of the ranges lies at or behind the first record that is as late. Raises ClientError."""
    later: list[OffsetRange] = []
    for topic, of_topic in groupby(ranges, lambda each: each.topic):
        wholes = list(of_topic)
        times = {whole.partition: since_ms for whole in wholes}
        found = list_offsets(router, topic, times, isolation=options.isolation)
        starts = {partition: at.offset for partition, at in found.items()}
        later += [
            replace(whole, start=max(whole.start, starts[whole.partition]))
            for whole in wholes
            if starts[whole.partition] != UNKNOWN_OFFSET
        ]
    return [whole for whole in later if whole.size > 0]


def limit_ranges(ranges: Sequence[OffsetRange], max_records: int) -> list[OffsetRange]:
    """Cut those that are longer into equal pieces; 0: none is too long."""
    if not max_records:
        return list(ranges)
    return [piece for whole in ranges for piece in _split(whole, -(-whole.size // max_records))]


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


def select(router: Router, options: ReadOptions) -> dict[str, list[int]]:
    """The partitions to read of each topic, as they are now. Raises ClientError."""
    if options.assigned is not None:
        return {topic: sorted(partitions) for topic, partitions in options.assigned.items()}
    admin = Admin(router)
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


def resolve(
    router: Router,
    selected: Mapping[str, Sequence[int]],
    bound: Bound,
    options: ReadOptions,
    *,
    is_start: bool,
) -> Offsets:
    """A real offset for each partition, the ones given by number as they are.

    Raises ClientError, and OptionError where the bound says nothing of a partition.
    """
    return {
        TopicPartition(topic, partition): offset
        for topic, partitions in sorted(selected.items())
        for partition, offset in _resolved(
            router, topic, partitions, bound, options, is_start=is_start
        ).items()
    }


def _resolved(
    router: Router,
    topic: str,
    partitions: Sequence[int],
    bound: Bound,
    options: ReadOptions,
    *,
    is_start: bool,
) -> dict[int, int]:
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
