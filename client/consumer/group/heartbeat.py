"""When to send a heartbeat, and when too much time has passed (Heartbeat)."""

from __future__ import annotations

from random import Random

from logquake.client.consumer.group.settings import GroupSettings
from logquake.client.network.backoff import ExponentialBackoff


class Heartbeat:
    def __init__(self, settings: GroupSettings, random: Random) -> None:
        self._settings = settings
        self._backoff = ExponentialBackoff(
            settings.retry_backoff_ms, settings.retry_backoff_max_ms, random
        )
        self._failures = 0
        self._heard_ms = 0
        self._polled_ms = 0
        self.due_ms = 0
        self.sent_ms: int | None = None  # the last one

    def begin(self, now_ms: int) -> None:
        """A new generation begins."""
        self._heard_ms = self._polled_ms = now_ms
        self.due_ms = now_ms + self._settings.heartbeat_interval_ms

    def polled(self, now_ms: int) -> None:
        """The program is alive."""
        self._polled_ms = now_ms

    def sent(self, now_ms: int) -> None:
        self.sent_ms = now_ms
        self.due_ms = now_ms + self._settings.heartbeat_interval_ms

    def heard(self, now_ms: int) -> None:
        """The coordinator considers this member alive."""
        self._failures = 0
        self._heard_ms = now_ms

    def failed(self, now_ms: int) -> None:
        self.due_ms = now_ms + self._backoff.after(self._failures)
        self._failures += 1

    def session_ends_ms(self, found_ms: int) -> int:
        """``found_ms``: when the current coordinator was found."""
        return max(self._heard_ms, found_ms) + self._settings.session_timeout_ms

    @property
    def poll_ends_ms(self) -> int:
        """From then on the program is considered stuck."""
        return self._polled_ms + self._settings.max_poll_interval_ms
