"""Which topics a consumer wants by a regular expression (kafka.consumer.TopicFilter)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from logquake.wire.sentinels import INTERNAL_TOPICS


@dataclass(frozen=True, slots=True)
class TopicFilter:
    """``raw`` may be in quotes, and have commas for bars, as properties files have it.

    Raises ValueError for what is no regular expression. Python's, not Java's: what plain names are
    made of, bars, dots and stars mean the same.
    """

    raw: str
    pattern: ClassVar[str]

    def __post_init__(self) -> None:
        try:
            re.compile(self.regex)
        except re.error as error:
            raise ValueError(f"{self.regex} is an invalid regex: {error}") from error

    @property
    def regex(self) -> str:
        return self.raw.strip().replace(",", "|").replace(" ", "").strip("\"'")

    def is_allowed(self, topic: str, *, exclude_internal: bool) -> bool:
        """``isTopicAllowed``; 0.8 knew of one internal topic alone."""
        return self._wants(topic) and not (exclude_internal and topic in INTERNAL_TOPICS)

    def _wants(self, topic: str) -> bool:
        raise NotImplementedError

    def _matches(self, topic: str) -> bool:
        return re.fullmatch(self.regex, topic) is not None


@dataclass(frozen=True, slots=True)
class Whitelist(TopicFilter):
    """All that it matches."""

    pattern = "white_list"

    def _wants(self, topic: str) -> bool:
        return self._matches(topic)


@dataclass(frozen=True, slots=True)
class Blacklist(TopicFilter):
    """All but those."""

    pattern = "black_list"

    def _wants(self, topic: str) -> bool:
        return not self._matches(topic)
