"""What was fetched and not returned yet, in the order of arrival (Kafka's FetchBuffer)."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator

from logquake.client.consumer.fetch.completed import CompletedFetch
from logquake.wire.topic_partition import TopicPartition


class FetchBuffer:
    """Polls take from ``current``, which has been examined; the waiting ones have not yet."""

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
        """Those not consumed yet, in the order in which polls take them."""
        if self.current is not None and not self.current.is_consumed:
            yield self.current
        yield from self._waiting

    @property
    def places(self) -> set[TopicPartition]:
        """Partitions with fetched data, which are not fetched again for now."""
        return {fetch.place for fetch in self}

    def retain(self, places: Collection[TopicPartition]) -> list[CompletedFetch]:
        """Remove and return the data of all other partitions."""
        rest = [fetch for fetch in self if fetch.place not in places]
        self._waiting = deque(fetch for fetch in self._waiting if fetch.place in places)
        if self.current is not None and self.current.place not in places:
            self.current = None
        return rest
