"""Selects a consumer's topics by a regular expression (kafka.consumer.TopicFilter)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from logquake.wire.sentinels import INTERNAL_TOPICS


@dataclass(frozen=True, slots=True)
class TopicFilter:
    """``raw`` may be quoted, and use commas for bars, as in properties files.

    Raises ValueError for an invalid regular expression. The syntax is Python's, not Java's; plain
    names, bars, dots and stars mean the same in both.
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
        """``isTopicAllowed``; 0.8 knew only one internal topic."""
        return self._wants(topic) and not (exclude_internal and topic in INTERNAL_TOPICS)

    def _wants(self, topic: str) -> bool:
        raise NotImplementedError

    def _matches(self, topic: str) -> bool:
        return re.fullmatch(self.regex, topic) is not None


@dataclass(frozen=True, slots=True)
class Whitelist(TopicFilter):
    """All matching topics."""

    pattern = "white_list"

    def _wants(self, topic: str) -> bool:
        return self._matches(topic)


@dataclass(frozen=True, slots=True)
class Blacklist(TopicFilter):
    """All topics that do not match."""

    pattern = "black_list"

    def _wants(self, topic: str) -> bool:
        return not self._matches(topic)
