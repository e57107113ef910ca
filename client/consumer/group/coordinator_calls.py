"""Calls that wait for the coordinator: commit, committed, close (ConsumerCoordinator's
commitOffsetsSync, fetchCommittedOffsets, close).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from functools import partial
from random import Random
from typing import TypeVar

from logquake.client.clock import Clock
from logquake.client.consumer.group.commits import Attempt, Commits, is_worth_another
from logquake.client.consumer.group.committed import CommittedOffsets, Lookup
from logquake.client.consumer.group.coordinator import Coordinator
from logquake.client.consumer.group.listener import Offsets
from logquake.client.consumer.group.settings import GroupSettings
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.driving.steps import Call, Steps, Wait
from logquake.client.errors import ClientError, TimedOutError
from logquake.client.network.backoff import ExponentialBackoff
from logquake.wire.topic_partition import TopicPartition

_LOG = logging.getLogger(__name__)

A = TypeVar("A", Attempt, Lookup)


class CoordinatorCalls:
    """``on_commit`` is called with committed offsets, for interceptors."""

    def __init__(
        self,
        settings: GroupSettings,
        coordinator: Coordinator,
        commits: Commits,
        committed: CommittedOffsets,
        clock: Clock,
        random: Random,
        on_commit: Callable[[Offsets], object],
    ) -> None:
        self._group_id = settings.group_id
        self._coordinator = coordinator
        self._commits = commits
        self._committed = committed
        self._clock = clock
        self._on_commit = on_commit
        self._backoff = ExponentialBackoff(
            settings.retry_backoff_ms, settings.retry_backoff_max_ms, random
        )

    # Commits

    def tell_completed(self) -> Steps[None]:
        """Raises BrokerError if another client has taken over this static member."""
        while (completion := self._commits.take_completed()) is not None:
            if completion.error is None:
                yield Call(partial(self._on_commit, completion.offsets))
            yield Call(partial(completion.callback, completion.offsets, completion.error))
        if self._commits.fenced is not None:
            raise self._commits.fenced

    def commit(self, offsets: Offsets, deadline_ms: int) -> Steps[None]:
        """Without offsets, wait for earlier commits."""
        yield from self.tell_completed()
        if offsets:
            yield from self._commit(offsets, deadline_ms, _is_retriable)
        else:
            yield from self._finish_async(deadline_ms)

    def _commit(
        self, offsets: Offsets, deadline_ms: int, is_retried: Callable[[ClientError], bool]
    ) -> Steps[None]:
        what = f"the commit of group {self._group_id}"
        send = partial(self._commits.send, offsets)
        yield from self._until_done(
            lambda: send(self._clock.now_ms()), what, deadline_ms, is_retried
        )
        yield Call(partial(self._on_commit, offsets))

    def _finish_async(self, deadline_ms: int) -> Steps[None]:
        done = yield Wait(lambda: not self._commits.is_any_unanswered, deadline_ms)
        yield from self.tell_completed()
        if not done:
            trouble = self._coordinator.trouble()
            raise TimedOutError(f"commits of group {self._group_id} are not answered{trouble}")

    # What is committed

    def committed(
        self, places: Collection[TopicPartition], deadline_ms: int
    ) -> Steps[dict[TopicPartition, OffsetAndMetadata | None]]:
        if not places:
            return {}
        what = f"committed offsets of group {self._group_id}"
        ask = partial(self._committed.ask, places)
        lookup = yield from self._until_done(ask, what, deadline_ms, _is_retriable)
        return {place: lookup.found[place] for place in places}

    # The end

    def finish_commits(self, deadline_ms: int, *, is_automatic: bool) -> Steps[None]:
        """Errors are logged."""
        try:
            yield from self.tell_completed()
            if is_automatic and (consumed := self._commits.consumed()):
                yield from self._commit(consumed, deadline_ms, is_worth_another)
            yield from self._finish_async(deadline_ms)
        except ClientError as error:
            _LOG.warning("commits of group %s as its consumer closes: %s", self._group_id, error)

    def finish(self, deadline_ms: int) -> Steps[None]:
        """Wait for the responses to all requests; with no time left, at least send them."""
        self._coordinator.poll(self._clock.now_ms())
        if self._coordinator.is_known:
            yield Wait(lambda: self._coordinator.is_idle, deadline_ms)

    # Within

    def _until_done(
        self,
        begin: Callable[[], A],
        what: str,
        deadline_ms: int,
        is_retried: Callable[[ClientError], bool],
    ) -> Steps[A]:
        """Retry until an attempt succeeds, or fails in a way that is not retried."""
        failures = 0
        while True:
            yield from self._wait_for_coordinator(what, deadline_ms)
            attempt = begin()
            yield Wait(partial(getattr, attempt, "is_done"), deadline_ms)
            yield from self.tell_completed()
            error = attempt.error
            if attempt.is_done and error is None:
                return attempt
            if error is not None and not is_retried(error):
                raise error
            until_ms = self._clock.now_ms() + self._backoff.after(failures)
            failures += 1
            yield Wait(lambda: False, min(until_ms, deadline_ms))
            if until_ms >= deadline_ms:
                because = f": {error}" if error is not None else self._coordinator.trouble()
                raise TimedOutError(f"{what}: not in time{because}") from error

    def _wait_for_coordinator(self, what: str, deadline_ms: int) -> Steps[None]:
        coordinator = self._coordinator
        yield Wait(lambda: coordinator.find() or coordinator.failure is not None, deadline_ms)
        coordinator.check()
        if not coordinator.find():
            raise TimedOutError(f"{what}: no coordinator found in time{coordinator.trouble()}")


def _is_retriable(error: ClientError) -> bool:
    return error.retriable
