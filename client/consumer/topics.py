"""The topics that a consumer needs metadata about (Kafka's ConsumerMetadata)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from logquake.client.consumer.subscription import Subscriptions, ToPattern


class SubscribedTopics:
    """Satisfies network.WantedTopics: subscribed or assigned topics, all topics for a pattern, and
    those of lookups in progress.
    """

    def __init__(self, subscriptions: Subscriptions, *, excludes_internal: bool = True) -> None:
        self._subscriptions = subscriptions
        self._excludes_internal = excludes_internal
        self._transient: Counter[str] = Counter()

    def use(self, topic: str, _now_ms: int) -> bool:
        """Want the topic until as many calls of `drop`."""
        self._transient[topic] += 1
        return self._transient[topic] == 1 and topic not in self._subscriptions.metadata_topics

    def drop(self, topics: Iterable[str]) -> None:
        self._transient -= Counter(topics)

    def all(self, _now_ms: int) -> list[str] | None:
        if isinstance(self._subscriptions.wish, ToPattern):
            return None
        return sorted(self._subscriptions.metadata_topics | self._transient.keys())

    def new(self) -> None:
        """New topics are not requested separately."""

    def answered(self, _topic: str) -> None:
        """Nothing to do: wanted topics are requested each time."""

    def is_in_use(self, topic: str, _now_ms: int, /, is_internal: bool = False) -> bool:
        if topic in self._transient or topic in self._subscriptions.metadata_topics:
            return True
        return self.may_match(topic, is_internal=is_internal)

    def may_match(self, topic: str, *, is_internal: bool) -> bool:
        """Whether the topic may match the pattern, if there is one."""
        wish = self._subscriptions.wish
        if not isinstance(wish, ToPattern) or (is_internal and self._excludes_internal):
            return False
        return wish.pattern.fullmatch(topic) is not None

    def forget_idle(self, _now_ms: int) -> None:
        """Nothing to do: no topic is ever idle."""
