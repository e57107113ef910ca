"""The options of a read, under the names of Spark's Kafka connector.

What is not understood is refused: an option silently ignored is a job that reads something else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from logquake.client.offsets import Isolation
from logquake.client.settings import ClientSettings
from logquake.wire.sentinels import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition

T = TypeVar("T")

_SPECIAL = {"earliest": EARLIEST_TIMESTAMP, "latest": LATEST_TIMESTAMP}
_SELECTORS = ("subscribe", "subscribePattern", "assign")
_KNOWN = (
    "kafka.bootstrap.servers",
    "kafka.client.id",
    "kafka.request.timeout.ms",
    "kafka.isolation.level",
    *_SELECTORS,
    "startingOffsets",
    "endingOffsets",
    "startingTimestamp",
    "endingTimestamp",
    "startingOffsetsByTimestamp",
    "endingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
    "minPartitions",
    "failOnDataLoss",
    "includeHeaders",
)


class OptionError(ValueError):
    """An option that is missing, unknown or not understood."""


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of the read: for every partition an offset, or a time to look one up by.

    `by_partition` overrides `everywhere`. Offsets may be EARLIEST_TIMESTAMP or LATEST_TIMESTAMP.
    """

    everywhere: int | None
    by_partition: Mapping[TopicPartition, int] = field(default_factory=dict)
    is_time: bool = False

    def at(self, topic: str, partition: int) -> int:
        """Raises OptionError for a partition that the option says nothing of."""
        position = self.by_partition.get(TopicPartition(topic, partition), self.everywhere)
        if position is None:
            raise OptionError(f"no starting or ending offset for {topic}-{partition}")
        return position


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a read asks for. Exactly one of the three selectors is set."""

    client: ClientSettings
    starting: Bound
    ending: Bound
    topics: tuple[str, ...] | None = None
    topic_pattern: str | None = None
    assigned: Mapping[str, tuple[int, ...]] | None = None
    isolation: Isolation = Isolation.READ_UNCOMMITTED
    min_partitions: int = 0
    fail_on_data_loss: bool = True
    include_headers: bool = False
    # startingOffsetsByTimestampStrategy: what if no record is as late as the starting time.
    late_start_is_latest: bool = False


def parse_options(options: Mapping[str, str]) -> ReadOptions:
    """Raises OptionError."""
    given = _by_known_name(options)
    selector = [name for name in _SELECTORS if name in given]
    if len(selector) != 1:
        raise OptionError(f"exactly one of {', '.join(_SELECTORS)} is needed, not {selector}")
    subscribe = given.get("subscribe")
    strategy = given.get("startingOffsetsByTimestampStrategy", "error")
    return ReadOptions(
        client=_client(given),
        starting=_bound(given, "starting", default="earliest", refused=LATEST_TIMESTAMP),
        ending=_bound(given, "ending", default="latest", refused=EARLIEST_TIMESTAMP),
        topics=_names(subscribe) if subscribe is not None else None,
        topic_pattern=given.get("subscribePattern"),
        assigned=_assigned(given["assign"]) if "assign" in given else None,
        isolation=_isolation(given.get("kafka.isolation.level", "read_uncommitted")),
        min_partitions=_number(given, "minPartitions", 0),
        fail_on_data_loss=_flag(given, "failOnDataLoss", default=True),
        include_headers=_flag(given, "includeHeaders", default=False),
        late_start_is_latest=_choice(strategy, {"error": False, "latest": True}),
    )


def _by_known_name(options: Mapping[str, str]) -> dict[str, str]:
    """Spark's options know no case: give them back the names they are documented by."""
    known = {name.lower(): name for name in _KNOWN}
    unknown = sorted(name for name in options if name.lower() not in known)
    if unknown:
        raise OptionError(f"unknown options: {', '.join(unknown)}")
    return {known[name.lower()]: value for name, value in options.items()}


def _client(given: Mapping[str, str]) -> ClientSettings:
    servers = given.get("kafka.bootstrap.servers")
    if not servers:
        raise OptionError("kafka.bootstrap.servers is needed")
    settings = ClientSettings(
        servers,
        client_id=given.get("kafka.client.id", "logquake-spark"),
        request_timeout_ms=_number(given, "kafka.request.timeout.ms", 30_000),
    )
    try:
        settings.addresses()
    except ValueError as error:
        raise OptionError(f"kafka.bootstrap.servers: {error}") from error
    return settings


def _bound(given: Mapping[str, str], end: str, *, default: str, refused: int) -> Bound:
    """The three ways to say where a read starts or ends; a time for all goes first."""
    name = f"{end}Timestamp"
    if name in given:
        return Bound(_number(given, name, 0), is_time=True)
    name = f"{end}OffsetsByTimestamp"
    if name in given:
        return Bound(None, _positions(name, given[name]), is_time=True)
    name = f"{end}Offsets"
    text = given.get(name, default).strip()
    special = _SPECIAL.get(text.lower())
    bound = Bound(special) if special is not None else Bound(None, _positions(name, text))
    if refused in (bound.everywhere, *bound.by_partition.values()):
        raise OptionError(f"{name} of a batch read cannot be {_name_of(refused)}")
    return bound


def _positions(name: str, text: str) -> dict[TopicPartition, int]:
    """`{"topic": {"0": 23, "1": -2}}` by topic and partition."""
    try:
        parsed = json.loads(text)
        return {
            TopicPartition(topic, int(partition)): int(position)
            for topic, partitions in parsed.items()
            for partition, position in partitions.items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise OptionError(f'{name} is not JSON like {{"topic": {{"0": 23}}}}: {text}') from error


def _assigned(text: str) -> dict[str, tuple[int, ...]]:
    try:
        parsed = json.loads(text)
        return {topic: tuple(map(int, indexes)) for topic, indexes in parsed.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise OptionError(f'assign is not JSON like {{"topic": [0, 1]}}: {text}') from error


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise OptionError("subscribe names no topic")
    return names


def _isolation(text: str) -> Isolation:
    return _choice(text, {level.name.lower(): level for level in Isolation})


def _flag(given: Mapping[str, str], name: str, *, default: bool) -> bool:
    return _choice(given.get(name, str(default)), {"true": True, "false": False})


def _choice(text: str, meanings: Mapping[str, T]) -> T:
    meaning = meanings.get(text.strip().lower())
    if meaning is None:
        raise OptionError(f"{text!r} is none of {', '.join(meanings)}")
    return meaning


def _number(given: Mapping[str, str], name: str, default: int) -> int:
    text = given.get(name)
    if text is None:
        return default
    if not text.strip().isdecimal():
        raise OptionError(f"{name} is not a number: {text}")
    return int(text)


def _name_of(position: int) -> str:
    return next(name for name, value in _SPECIAL.items() if value == position)
