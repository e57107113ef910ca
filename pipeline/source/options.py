"""The options of a read, under the names of Spark's Kafka connector.

What is not understood is refused: an option silently ignored is a job that reads something else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from logquake.pipeline.options.clients import Keys, consumer_keys, parted
from logquake.pipeline.options.values import (
    OptionError,
    assigned,
    choice,
    duration_ms,
    flag,
    names,
    number,
    pattern,
    positions,
)
from logquake.pipeline.source.record_columns import COLUMNS, HEADERS, USUAL
from logquake.wire.sentinels import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition

_SPECIAL = {"earliest": EARLIEST_TIMESTAMP, "latest": LATEST_TIMESTAMP}
SELECTORS = ("subscribe", "subscribePattern", "assign")
_SHARED = (
    *SELECTORS,
    "startingOffsets",
    "startingTimestamp",
    "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
    "minPartitions",
    "maxRecordsPerPartition",
    "failOnDataLoss",
    "includeHeaders",
    "columns",
)
_OF_BATCHES = ("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp", "pushFilters")
_OF_STREAMS = ("maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay")
MAX_TRIGGER_DELAY_MS = 15 * 60_000


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of the read: for every partition an offset, or a time to look one up by.

    `by_partition` overrides `everywhere`. Offsets may be EARLIEST_TIMESTAMP or LATEST_TIMESTAMP.
    """

    everywhere: int | None
    by_partition: Mapping[TopicPartition, int] = field(default_factory=dict)
    is_time: bool = False

    def check(self, selected: Collection[TopicPartition]) -> None:
        """Raises OptionError for partitions that are told of, and not read."""
        if unread := sorted(self.by_partition.keys() - set(selected)):
            names = ", ".join(map(str, unread))
            raise OptionError(f"a starting or ending offset of {names}, which is not read")

    def at(self, topic: str, partition: int) -> int:
        """Raises OptionError for a partition that the option says nothing of."""
        position = self.by_partition.get(TopicPartition(topic, partition), self.everywhere)
        if position is None:
            raise OptionError(f"no starting or ending offset for {topic}-{partition}")
        return position


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a read asks for. Exactly one of the three selectors is set.

    ``consumer`` is what its consumers are set to.
    """

    consumer: Keys = field(repr=False)  # there may be passwords
    starting: Bound
    ending: Bound
    topics: tuple[str, ...] | None = None
    topic_pattern: str | None = None
    assigned: Mapping[str, tuple[int, ...]] | None = None
    min_partitions: int = 0
    max_records_per_partition: int = 0  # of a task; 0: as many as there are
    fail_on_data_loss: bool = True
    columns: tuple[str, ...] = USUAL
    # Of batches; Spark lets a source have filters where spark.sql.python.filterPushdown.enabled is.
    push_filters: bool = False
    # startingOffsetsByTimestampStrategy: what if no record is as late as the starting time.
    late_start_is_latest: bool = False


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """``max_offsets`` and ``min_offsets`` of one batch, 0: not bounded; with fewer than the latter
    a batch waits, but not for longer than ``max_delay_ms`` after the one before.
    """

    read: ReadOptions
    max_offsets: int = 0
    min_offsets: int = 0
    max_delay_ms: int = MAX_TRIGGER_DELAY_MS


def parse_options(options: Mapping[str, str]) -> ReadOptions:
    """Of a batch. Raises OptionError."""
    kafka, given = parted(options, (*_SHARED, *_OF_BATCHES))
    return _read_options(
        kafka,
        given,
        starting=_bound(given, "starting", default="earliest", refused=LATEST_TIMESTAMP),
        ending=_bound(given, "ending", default="latest", refused=EARLIEST_TIMESTAMP),
    )


def parse_stream_options(options: Mapping[str, str]) -> StreamOptions:
    """Raises OptionError."""
    kafka, given = parted(options, (*_SHARED, *_OF_STREAMS))
    stream = StreamOptions(
        _read_options(
            kafka,
            given,
            starting=_bound(given, "starting", default="latest"),
            ending=Bound(LATEST_TIMESTAMP),
        ),
        max_offsets=number(given, "maxOffsetsPerTrigger", 0),
        min_offsets=number(given, "minOffsetsPerTrigger", 0),
        max_delay_ms=duration_ms(given, "maxTriggerDelay", MAX_TRIGGER_DELAY_MS),
    )
    if stream.max_offsets and stream.min_offsets > stream.max_offsets:
        raise OptionError("minOffsetsPerTrigger is above maxOffsetsPerTrigger")
    return stream


def columns_of(options: Mapping[str, str]) -> tuple[str, ...]:
    """Of a read of any kind: its columns have to be known before its kind is.

    Raises OptionError.
    """
    _, given = parted(options, (*_SHARED, *_OF_BATCHES, *_OF_STREAMS))
    return _columns(given)


def _columns(given: Mapping[str, str]) -> tuple[str, ...]:
    headers = (HEADERS,) if flag(given, "includeHeaders", default=False) else ()
    if "columns" not in given:
        return (*USUAL, *headers)
    chosen = names(given["columns"])
    unknown = sorted(set(chosen) - set(COLUMNS))
    if unknown:
        raise OptionError(f"columns: no such column: {', '.join(unknown)}")
    return tuple(name for name in COLUMNS if name in {*chosen, *headers})


def _read_options(
    kafka: Keys, given: Mapping[str, str], *, starting: Bound, ending: Bound
) -> ReadOptions:
    selector = [name for name in SELECTORS if name in given]
    if len(selector) != 1:
        raise OptionError(f"exactly one of {', '.join(SELECTORS)} is needed, not {selector}")
    subscribe = given.get("subscribe")
    return ReadOptions(
        consumer=consumer_keys(kafka),
        starting=starting,
        ending=ending,
        topics=names(subscribe) if subscribe is not None else None,
        topic_pattern=pattern(given, "subscribePattern"),
        assigned=assigned(given["assign"]) if "assign" in given else None,
        min_partitions=number(given, "minPartitions", 0),
        max_records_per_partition=number(given, "maxRecordsPerPartition", 0),
        fail_on_data_loss=flag(given, "failOnDataLoss", default=True),
        columns=_columns(given),
        push_filters=flag(given, "pushFilters", default=False),
        late_start_is_latest=choice(
            given,
            "startingOffsetsByTimestampStrategy",
            {"error": False, "latest": True},
            default=False,
        ),
    )


def _bound(
    given: Mapping[str, str], end: str, *, default: str, refused: int | None = None
) -> Bound:
    """The three ways to say where a read starts or ends; a time for all goes first."""
    name = f"{end}Timestamp"
    if name in given:
        return Bound(number(given, name, 0), is_time=True)
    name = f"{end}OffsetsByTimestamp"
    if name in given:
        return Bound(None, positions(name, given[name]), is_time=True)
    name = f"{end}Offsets"
    text = given.get(name, default).strip()
    special = _SPECIAL.get(text.lower())
    bound = Bound(special) if special is not None else Bound(None, positions(name, text))
    if refused is not None and refused in (bound.everywhere, *bound.by_partition.values()):
        raise OptionError(f"{name} of a batch read cannot be {_name_of(refused)}")
    return bound


def _name_of(position: int) -> str:
    return next(name for name, value in _SPECIAL.items() if value == position)
