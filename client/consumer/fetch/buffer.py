"""What was fetched and not returned yet, in the order of arrival (Kafka's FetchBuffer)."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator

from logquake.client.consumer.fetch.completed import CompletedFetch
from logquake.wire.topic_partition import TopicPartition


class FetchBuffer:
    """``current`` is the one that polls take from; it is looked at, those that wait are not yet."""

    def __init__(self) -> None:
        self.current: CompletedFetch | None = None
        self._waiting: deque[CompletedFetch] = deque()

    def add(self, fetches: Iterable[CompletedFetch]) -> None:
        self._waiting.extend(fetches)

    def first(self) -> CompletedFetch | None:
        return self._waiting[0] if self._waiting else None

    def remove_first(self) -> None:
        self._waiting.popleft()

    def __iter__(self) -> Iterator[CompletedFetch]:
        """Those that are not consumed, in the order in which polls take them."""
        if self.current is not None and not self.current.is_consumed:
            yield self.current
        yield from self._waiting

    @property
    def places(self) -> set[TopicPartition]:
        """Of which nothing more is fetched for now."""
        return {fetch.place for fetch in self}

    def retain(self, places: Collection[TopicPartition]) -> list[CompletedFetch]:
        """What is of others is taken out, and answered."""
        rest = [fetch for fetch in self if fetch.place not in places]
        self._waiting = deque(fetch for fetch in self._waiting if fetch.place in places)
        if self.current is not None and self.current.place not in places:
            self.current = None
        return rest
