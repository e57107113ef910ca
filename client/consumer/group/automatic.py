"""Automatic commits: by interval, and before a rebalance (enable.auto.commit)."""

from __future__ import annotations

import logging

from logquake.client.consumer.group.commits import Attempt, Commits, is_worth_another
from logquake.client.consumer.group.listener import unheard
from logquake.client.consumer.group.settings import GroupSettings

_LOG = logging.getLogger(__name__)


class AutoCommit:
    """Commits only in the program's polls: only these show what it has processed."""

    def __init__(self, settings: GroupSettings, interval_ms: int, commits: Commits) -> None:
        self._settings = settings
        self._interval_ms = interval_ms
        self._commits = commits
        self._last: Attempt | None = None
        self._due_ms: int | None = None  # before the first poll

    def due_ms(self, now_ms: int) -> int:
        return now_ms + self._interval_ms if self._due_ms is None else self._due_ms

    def restart(self, now_ms: int) -> None:
        """Restart the interval after an assignment."""
        self._due_ms = now_ms + self._interval_ms

    def polled(self, now_ms: int) -> None:
        self._due_ms = self.due_ms(now_ms)
        self._look_at_last(now_ms)
        if self._due_ms <= now_ms:
            self.restart(now_ms)
            self._last = self.commit(now_ms)

    def commit(self, now_ms: int) -> Attempt:
        """Commit the consumed positions, without a callback; done at once if there are none."""
        offsets = self._commits.consumed()
        if not offsets:
            return self._commits.send(offsets, now_ms)
        return self._commits.send_async(offsets, unheard, now_ms)

    def _look_at_last(self, now_ms: int) -> None:
        """If the last commit failed but may be retried, retry before the interval ends."""
        if self._last is None or not self._last.is_done:
            return
        error, self._last = self._last.error, None
        if error is not None and is_worth_another(error):
            self._due_ms = now_ms + self._settings.retry_backoff_ms
        elif error is not None:
            _LOG.warning("automatic commit of group %s: %s", self._settings.group_id, error)


class BeforeRebalance:
    """Commits consumed positions before their partitions are given up, for as long as the group
    would wait (ConsumerCoordinator.onJoinPrepare).
    """

    def __init__(self, settings: GroupSettings, auto: AutoCommit) -> None:
        self._settings = settings
        self._auto = auto
        self._attempt: Attempt | None = None
        self._until_ms: int | None = None
        self._not_before_ms = 0

    def is_over(self, now_ms: int) -> bool:
        """Continue the commit. Once this returns True, the next call begins another."""
        if self._until_ms is None:
            self._until_ms = now_ms + self._settings.max_poll_interval_ms
        if self._attempt is None and self._not_before_ms <= now_ms:
            self._attempt = self._auto.commit(now_ms)
        if self._until_ms > now_ms and not self._has_ended(now_ms):
            return False
        self.forget()
        return True

    def forget(self) -> None:
        """Stop: there is nothing left to give up."""
        self._attempt = self._until_ms = None

    def _has_ended(self, now_ms: int) -> bool:
        if self._attempt is None or not self._attempt.is_done:
            return False
        error = self._attempt.error
        if error is not None and is_worth_another(error):
            self._attempt = None
            self._not_before_ms = now_ms + self._settings.retry_backoff_ms
            return False
        if error is not None:
            _LOG.error("commit before group %s rebalances: %s", self._settings.group_id, error)
        return True

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for a response, or for the next attempt."""
        return self._until_ms is not None and (self._attempt is None or not self._attempt.is_done)

    def due_ms(self) -> int | None:
        """When it continues even without a response."""
        if self._until_ms is None:
            return None
        return self._until_ms if self._attempt is not None else self._not_before_ms
