"""What a read covers: every partition's range of offsets, cut into one range a task.

Runs on the driver, once a query. The ends are fixed here, so that a query reads the same records
however long its tasks take.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from logquake.client import Consumer
from logquake.client.errors import ClientError, broker_error
from logquake.pipeline.options.values import OptionError
from logquake.pipeline.source.options import Bound, ReadOptions
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import EARLIEST_TIMESTAMP, INTERNAL_TOPICS, LATEST_TIMESTAMP
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
    def place(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)

    @property
    def size(self) -> int:
        return self.end - self.start


def plan_ranges(consumer: Consumer, options: ReadOptions) -> list[OffsetRange]:
    """A range of each partition, none of them empty, ordered by topic and partition.

    Raises ClientError, and OptionError where the options do not fit the topics.
    """
    selected = select(consumer, options)
    starts = starting_offsets(consumer, selected, options).offsets
    ends = ending_offsets(consumer, selected, options)
    return ranges_between(starts, ends)


def ranges_between(starts: Offsets, ends: Offsets) -> list[OffsetRange]:
    ranges = (OffsetRange(*at, starts[at], ends[at]) for at in sorted(ends) if at in starts)
    return [whole for whole in ranges if whole.size > 0]


def cut_ranges(ranges: Sequence[OffsetRange], options: ReadOptions) -> list[OffsetRange]:
    """A range a task, of the sizes that the options ask for."""
    pieces = limit_ranges(ranges, options.max_records_per_partition)
    return split_ranges(pieces, options.min_partitions)


def later_ranges(
    consumer: Consumer, ranges: Sequence[OffsetRange], since_ms: int
) -> list[OffsetRange]:
    """What of the ranges lies at or behind the first record that is as late. Raises ClientError."""
    found = consumer.offsets_for_times({whole.place: max(0, since_ms) for whole in ranges})
    later = (
        replace(whole, start=max(whole.start, at.offset))
        for whole in ranges
        if (at := found[whole.place]) is not None
    )
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


def what_is_there(piece: OffsetRange, earliest: Offsets) -> OffsetRange:
    """Without what is gone from the front of it, which may be all."""
    begins = earliest.get(piece.place, piece.end)
    return replace(piece, start=min(max(piece.start, begins), piece.end))


def beginnings(consumer: Consumer, places: Collection[TopicPartition]) -> Offsets:
    """Where their logs begin; none of those that are still not there after
    default.api.timeout.ms. Raises ClientError.
    """
    try:
        return consumer.beginning_offsets(places)
    except ClientError:
        told = consumer.list_topics()
        there = {*_places({at: [each.partition for each in told[at]] for at in told})}
        if there.issuperset(places):
            raise
        return consumer.beginning_offsets(there.intersection(places))


def _split(whole: OffsetRange, count: int) -> Iterable[OffsetRange]:
    count = min(count, whole.size)
    cuts = [whole.start + whole.size * index // count for index in range(count + 1)]
    for start, end in pairwise(cuts):
        yield OffsetRange(whole.topic, whole.partition, start, end)


def select(consumer: Consumer, options: ReadOptions) -> list[TopicPartition]:
    """The partitions to read, as they are now, in order.

    Raises ClientError, and OptionError for one that is assigned and that there is not.
    """
    if options.topic_pattern is not None:
        pattern = re.compile(options.topic_pattern)
        there = {
            topic: [each.partition for each in told]
            for topic, told in consumer.list_topics().items()
            if pattern.fullmatch(topic) and topic not in INTERNAL_TOPICS
        }
        return _places(there)
    named = options.topics if options.assigned is None else options.assigned
    there = {topic: _partitions(consumer, topic) for topic in named or ()}
    if options.assigned is None:
        return _places(there)
    assigned = _places(options.assigned)
    if gone := sorted({*assigned} - {*_places(there)}):
        raise OptionError(f"assign: there is no {', '.join(map(str, gone))}")
    return assigned


def _partitions(consumer: Consumer, topic: str) -> list[int]:
    told = consumer.partitions_for(topic)
    if not told:
        raise broker_error(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"topic {topic}")
    return [each.partition for each in told]


def _places(partitions: Mapping[str, Iterable[int]]) -> list[TopicPartition]:
    return sorted(
        TopicPartition(topic, partition)
        for topic, of_topic in partitions.items()
        for partition in of_topic
    )


class Starts(NamedTuple):
    """Those of ``moving`` are where the log ends, and others whenever they are asked for."""

    offsets: Offsets
    moving: Collection[TopicPartition]


def starting_offsets(
    consumer: Consumer, selected: Sequence[TopicPartition], options: ReadOptions
) -> Starts:
    """A real offset for each partition, the ones given by number as they are.

    Raises ClientError, and OptionError where the bound says nothing of a partition, or tells of
    another, and where no record is as late as the starting time, unless the options let it be the
    end of the log.
    """
    bound = options.starting
    found, late = _offsets(consumer, selected, bound)
    if late and not options.late_start_is_latest:
        places = ", ".join(map(str, late))
        raise OptionError(f"no record of {places} is as late as the starting time")
    moving = [place for place in selected if bound.at(*place) == LATEST_TIMESTAMP]
    return Starts({**found, **consumer.end_offsets(late)}, {*moving, *late})


def ending_offsets(
    consumer: Consumer, selected: Sequence[TopicPartition], options: ReadOptions
) -> Offsets:
    """The same; a time later than every record means the end of the log."""
    found, late = _offsets(consumer, selected, options.ending)
    return {**found, **consumer.end_offsets(late)}


def _offsets(
    consumer: Consumer, selected: Sequence[TopicPartition], bound: Bound
) -> tuple[Offsets, list[TopicPartition]]:
    """Those that are known, and the partitions whose last record is older than the time."""
    bound.check(selected)
    wanted = {place: bound.at(*place) for place in selected}
    if bound.is_time:
        times = consumer.offsets_for_times(wanted)
        found = {place: at.offset for place, at in times.items() if at is not None}
        return found, [place for place in selected if place not in found]
    earliest = [place for place, at in wanted.items() if at == EARLIEST_TIMESTAMP]
    latest = [place for place, at in wanted.items() if at == LATEST_TIMESTAMP]
    begun = consumer.beginning_offsets(earliest)
    return {**wanted, **begun, **consumer.end_offsets(latest)}, []
