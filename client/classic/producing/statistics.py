"""The older producer's counts, named like its meters (ProducerTopicStats, ProducerStats)."""

from __future__ import annotations

from collections import Counter
from threading import Lock


class ProducerStatistics:
    """May be used by several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: Counter[str] = Counter()

    def sent(self, topic: str) -> None:
        """A message was passed to send()."""
        self._count("MessagesPerSec", topic)

    def serialized(self, topic: str, size_bytes: int) -> None:
        self._count("BytesPerSec", topic, size_bytes)

    def dropped(self, topic: str) -> None:
        """The queue was full."""
        self._count("DroppedMessagesPerSec", topic)

    def not_serialized(self) -> None:
        self._count("SerializationErrorsPerSec")

    def resent(self) -> None:
        """A batch was sent again after a failure."""
        self._count("ResendsPerSec")

    def failed(self) -> None:
        """A batch failed after all retries."""
        self._count("FailedSendsPerSec")

    def counts(self) -> dict[str, int]:
        """Each in total, and per topic, after a slash."""
        with self._lock:
            return dict(self._counts)

    def _count(self, name: str, topic: str | None = None, more: int = 1) -> None:
        with self._lock:
            self._counts[name] += more
            if topic is not None:
                self._counts[f"{name}/{topic}"] += more
