"""The topics that a client needs metadata about (Kafka's ProducerMetadata, ConsumerMetadata)."""

from __future__ import annotations

from typing import Protocol


class WantedTopics(Protocol):
    """What `Metadata` needs to know about topics."""

    def use(self, topic: str, now_ms: int, /) -> bool:
        """The topic is needed now. Returns whether it is new."""

    def all(self, now_ms: int, /) -> list[str] | None:
        """The topics to request; None for all of the cluster's."""

    def new(self) -> list[str] | None:
        """Topics without a response so far; None to request all topics instead."""

    def answered(self, topic: str, /) -> None: ...

    def is_in_use(self, topic: str, now_ms: int, /, is_internal: bool = False) -> bool:
        """Whether to keep what is known of the topic."""

    def forget_idle(self, now_ms: int, /) -> None: ...


class TopicsInUse:
    """A producer's topics: those used recently. A topic that was not used for ``max_idle_ms`` is no
    longer requested (KIP-526).
    """

    def __init__(self, max_idle_ms: int) -> None:
        self._max_idle_ms = max_idle_ms
        self._used_until_ms: dict[str, int] = {}
        self._new: dict[str, None] = {}  # without a response so far

    def use(self, topic: str, now_ms: int) -> bool:
        is_new = topic not in self._used_until_ms
        self._used_until_ms[topic] = now_ms + self._max_idle_ms
        if is_new:
            self._new[topic] = None
        return is_new

    def all(self, now_ms: int) -> list[str]:
        return [topic for topic in self._used_until_ms if self.is_in_use(topic, now_ms)]

    def new(self) -> list[str]:
        return list(self._new)

    def answered(self, topic: str) -> None:
        self._new.pop(topic, None)

    def is_in_use(self, topic: str, now_ms: int, /, _is_internal: bool = False) -> bool:
        return topic in self._new or self._used_until_ms.get(topic, -1) > now_ms

    def forget_idle(self, now_ms: int) -> None:
        self._used_until_ms = {
            topic: until_ms
            for topic, until_ms in self._used_until_ms.items()
            if self.is_in_use(topic, now_ms)
        }
