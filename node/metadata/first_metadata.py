"""What a broker that has just registered may tell clients of the cluster: nothing yet.

Kafka answers from an empty cache until the controller's first UpdateMetadata arrives. Clients take
the answer for the truth: librdkafka's producers fail every message of a topic that one broker
called unknown. So requests wait here, for the moment that the controller usually needs; when it
takes longer (it is dead, or paused) the connection ends and the client asks another broker.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.waiters import MetadataWaiters

_TOO_LATE = "the controller has told this broker nothing of the cluster yet"


class FirstMetadata:
    """max_wait_ms: logquake.first.metadata.max.wait.ms; 0 waits for nothing."""

    def __init__(self, cache: MetadataCache, waiters: MetadataWaiters, max_wait_ms: int) -> None:
        self._cache = cache
        self._waiters = waiters
        self._max_wait_ms = max_wait_ms

    def wait(self, answer: Callable[[], None], close: Callable[[str], None]) -> None:
        """Call answer, at once if the cache was ever fed; or close with the reason, too late."""

        def done() -> None:
            if self._cache.is_fed:
                answer()
            else:
                close(_TOO_LATE)

        self._waiters.wait(lambda: self._cache.is_fed, self._max_wait_ms, done)
