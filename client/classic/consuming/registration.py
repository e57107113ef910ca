"""/consumers/GROUP/ids/CONSUMER: a consumer's topics, and the number of streams for each
(kafka.consumer.TopicCount).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from logquake.client.classic.consuming.topic_filter import Blacklist, TopicFilter, Whitelist
from logquake.zk.znodes.json_text import dump_json, int32, read_json

_STATIC = "static"
_FILTERS = {each.pattern: each for each in (Whitelist, Blacklist)}


@dataclass(frozen=True, slots=True)
class StaticTopics:
    """StaticTopicCount: streams by topic, at least one of each. Raises ValueError."""

    streams: Mapping[str, int]

    def __post_init__(self) -> None:
        _refuse_below_one(self.streams.values())


@dataclass(frozen=True, slots=True)
class Wildcard:
    """WildcardTopicCount: each topic that the filter allows, with that many streams, at least one.
    Raises ValueError.
    """

    topic_filter: TopicFilter
    streams: int

    def __post_init__(self) -> None:
        _refuse_below_one([self.streams])


def _refuse_below_one(counts: Iterable[int]) -> None:
    if any(count < 1 for count in counts):
        raise ValueError("a topic needs at least one stream")


TopicCount = StaticTopics | Wildcard


def streams_of(
    wanted: TopicCount, topics: Iterable[str], *, exclude_internal: bool
) -> dict[str, int]:
    """By topic. Topics given by name need not exist."""
    match wanted:
        case StaticTopics(streams):
            return dict(streams)
        case Wildcard(topic_filter, count):
            allowed = topic_filter.is_allowed
            return {
                topic: count
                for topic in topics
                if allowed(topic, exclude_internal=exclude_internal)
            }


def encode_registration(wanted: TopicCount, timestamp_ms: int) -> bytes:
    match wanted:
        case StaticTopics(streams):
            subscription, pattern = dict(streams), _STATIC
        case Wildcard(topic_filter, count):
            subscription, pattern = {topic_filter.regex: count}, topic_filter.pattern
    return dump_json(
        {
            "version": 1,
            "subscription": subscription,
            "pattern": pattern,
            "timestamp": str(timestamp_ms),
        }
    )


def decode_registration(data: bytes) -> TopicCount:
    """Raises MalformedZnode."""

    def build(value: dict[str, object]) -> TopicCount:
        subscription = value["subscription"]
        if not isinstance(subscription, dict):
            raise TypeError("no subscription")
        streams = {str(topic): int32(count) for topic, count in subscription.items()}
        kind = _FILTERS.get(str(value["pattern"]))
        if kind is None or not streams:
            return StaticTopics(streams)
        (regex, count), *_ = streams.items()
        return Wildcard(kind(regex), count)

    return read_json(data, build)
