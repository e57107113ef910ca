"""The topics that a consumer needs metadata about (Kafka's ConsumerMetadata)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from logquake.client.consumer.subscription import Subscriptions, ToPattern


class SubscribedTopics:
    """Satisfies network.WantedTopics: what is subscribed or assigned, all topics for a pattern, and
    what somebody asks about just now.
    """

    def __init__(self, subscriptions: Subscriptions, *, excludes_internal: bool = True) -> None:
        self._subscriptions = subscriptions
        self._excludes_internal = excludes_internal
        self._transient: Counter[str] = Counter()

    def use(self, topic: str, _now_ms: int) -> bool:
        """Until `drop`, as often."""
        self._transient[topic] += 1
        return self._transient[topic] == 1 and topic not in self._subscriptions.metadata_topics

    def drop(self, topics: Iterable[str]) -> None:
        self._transient -= Counter(topics)

    def all(self, _now_ms: int) -> list[str] | None:
        if isinstance(self._subscriptions.wish, ToPattern):
            return None
        return sorted(self._subscriptions.metadata_topics | self._transient.keys())

    def new(self) -> None:
        """All are asked about at once."""

    def answered(self, _topic: str) -> None:
        """It is asked about again all the same."""

    def is_in_use(self, topic: str, _now_ms: int, /, is_internal: bool = False) -> bool:
        if topic in self._transient or topic in self._subscriptions.metadata_topics:
            return True
        return self.may_match(topic, is_internal=is_internal)

    def may_match(self, topic: str, *, is_internal: bool) -> bool:
        """Whether it is one of those that the pattern, if any, is about."""
        wish = self._subscriptions.wish
        if not isinstance(wish, ToPattern) or (is_internal and self._excludes_internal):
            return False
        return wish.pattern.fullmatch(topic) is not None

    def forget_idle(self, _now_ms: int) -> None:
        """None is ever idle."""
