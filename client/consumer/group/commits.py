"""Commits: each attempt, and asynchronous commits in the order of the calls (ConsumerCoordinator's
OffsetCommit).
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import NamedTuple

from logquake.client.consumer.group import commit_requests
from logquake.client.consumer.group.coordinator import Coordinator
from logquake.client.consumer.group.generation import Generation
from logquake.client.consumer.group.listener import CommitCallback, Offsets
from logquake.client.consumer.group.membership import OUTLIVED, Membership
from logquake.client.consumer.group.settings import GroupSettings
from logquake.client.consumer.group.statistics import GroupEventKind, GroupStatistics
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.errors import (
    BrokerError,
    ClientError,
    CommitFailedError,
    MalformedResponseError,
    RebalanceInProgressError,
    RetriableCommitFailedError,
    broker_error,
)
from logquake.client.network.coordinator_lookups import COORDINATOR_MOVED
from logquake.client.network.link import Answer
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_offsets import OffsetCommitResponse
from logquake.wire.topic_partition import TopicPartition

_LOST_COORDINATOR = COORDINATOR_MOVED | {ErrorCode.REQUEST_TIMED_OUT}
_KICKED_OUT = (
    "the member is not in the group any more, and others may have its partitions. If the program "
    "took longer than max.poll.interval.ms between two polls, raise it, or lower max.poll.records"
)


def is_worth_another(error: ClientError) -> bool:
    """Whether to retry an automatic commit. Not if a topic is unknown: a deleted one stays unknown,
    and a rebalance or close would wait for it (KAFKA-12256, KAFKA-16235).
    """
    code = error.code if isinstance(error, BrokerError) else None
    return error.retriable and code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


class Attempt:
    """One OffsetCommit: ``error`` is why it failed, once it is done."""

    def __init__(self, offsets: Offsets) -> None:
        self.offsets = offsets
        self.is_done = False
        self.error: ClientError | None = None

    def end(self, error: ClientError | None) -> None:
        self.is_done = True
        self.error = error


class Completion(NamedTuple):
    """The outcome of an asynchronous commit, for its callback."""

    offsets: Offsets
    error: ClientError | None
    callback: CommitCallback


class _Unheard(NamedTuple):
    attempt: Attempt
    callback: CommitCallback


class _Waiting(NamedTuple):
    """A commit that waits for the coordinator, for at most one more failed lookup."""

    attempt: Attempt
    failed_lookups: int
    until_ms: int


class Commits:
    def __init__(
        self,
        settings: GroupSettings,
        coordinator: Coordinator,
        membership: Membership,
        subscriptions: Subscriptions,
        statistics: GroupStatistics,
    ) -> None:
        self._settings = settings
        self._coordinator = coordinator
        self._membership = membership
        self._subscriptions = subscriptions
        self._statistics = statistics
        self._waiting: deque[_Waiting] = deque()
        self._unheard: deque[_Unheard] = deque()  # in the order of the calls
        self.fenced: BrokerError | None = None  # taken over by another client, for good

    # What the program does

    def consumed(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """The positions of all assigned partitions that have one."""
        return {
            place: OffsetAndMetadata(position.offset, position.epoch)
            for place, position in self._subscriptions.consumed().items()
        }

    def send(self, offsets: Offsets, now_ms: int) -> Attempt:
        """Send now; without offsets the attempt is done at once."""
        attempt = Attempt(dict(offsets))
        self._send(attempt, now_ms)
        return attempt

    def send_async(self, offsets: Offsets, callback: CommitCallback, now_ms: int) -> Attempt:
        """Send now, or as soon as the coordinator is found."""
        attempt = Attempt(dict(offsets))
        self._unheard.append(_Unheard(attempt, callback))
        if not offsets or self._coordinator.find():
            self._send(attempt, now_ms)
        else:
            until_ms = now_ms + self._settings.request_timeout_ms
            failed = self._coordinator.failed_lookups
            self._waiting.append(_Waiting(attempt, failed, until_ms))
        return attempt

    @property
    def is_any_unanswered(self) -> bool:
        """Whether an asynchronous commit is still in flight or waiting."""
        return any(not each.attempt.is_done for each in self._unheard)

    @property
    def has_completed(self) -> bool:
        return bool(self._unheard) and self._unheard[0].attempt.is_done

    def take_completed(self) -> Completion | None:
        """The next completed commit; its error says if the program may retry it."""
        if not self.has_completed:
            return None
        attempt, callback = self._unheard.popleft()
        error = attempt.error
        if isinstance(error, BrokerError) and error.code is ErrorCode.FENCED_INSTANCE_ID:
            self.fenced = error
        if error is not None and error.retriable:
            error = RetriableCommitFailedError(error)
        return Completion(attempt.offsets, error, callback)

    # As a core

    def poll(self, now_ms: int) -> None:
        while self._waiting and self._coordinator.is_known:
            self._send(self._waiting.popleft().attempt, now_ms)
        while self._waiting and self._is_in_vain(self._waiting[0], now_ms):
            why = f"no coordinator of group {self._settings.group_id} is found"
            self._waiting.popleft().attempt.end(
                broker_error(ErrorCode.COORDINATOR_NOT_AVAILABLE, why)
            )

    def next_due_ms(self) -> int | None:
        return self._waiting[0].until_ms if self._waiting else None

    # Within

    def _is_in_vain(self, waiting: _Waiting, now_ms: int) -> bool:
        has_failed = self._coordinator.failed_lookups > waiting.failed_lookups
        return has_failed or waiting.until_ms <= now_ms

    def _send(self, attempt: Attempt, now_ms: int) -> None:
        refused = self._membership_lacks() if attempt.offsets else None
        if not attempt.offsets or refused is not None:
            attempt.end(refused)
            return
        is_member = self._subscriptions.is_of_group
        generation = self._membership.generation if is_member else Generation()
        instance_id = self._settings.instance_id if is_member else None
        done = partial(self._on_answer, attempt, generation, now_ms)
        group_id = self._settings.group_id
        self._coordinator.ask(
            commit_requests.commit(group_id, instance_id, generation, attempt.offsets, done)
        )

    def _membership_lacks(self) -> ClientError | None:
        """A subscriber commits as a member, and is not one while the group rebalances."""
        if not self._subscriptions.is_of_group or self._membership.is_stable:
            return None
        if self._membership.is_rebalancing:
            return RebalanceInProgressError("commit: the group rebalances; poll, then commit again")
        return CommitFailedError(f"commit: {_KICKED_OUT}")

    def _on_answer(
        self, attempt: Attempt, generation: Generation, sent_ms: int, answer: Answer, now_ms: int
    ) -> None:
        if not isinstance(answer, OffsetCommitResponse):
            attempt.end(answer if isinstance(answer, ClientError) else None)
            return
        self._statistics.commits.add(now_ms - sent_ms, now_ms)
        failed = commit_requests.first_failure(answer)
        if failed is not None:
            attempt.end(self._meaning(failed, generation, now_ms))
        elif commit_requests.is_about(answer, attempt.offsets):
            attempt.end(None)
        else:
            attempt.end(MalformedResponseError("a commit is answered, not of all partitions"))

    def _meaning(
        self, failed: commit_requests.Failed, generation: Generation, now_ms: int
    ) -> ClientError:
        code = failed.code
        error = broker_error(code, f"commit of {failed.what} in group {self._settings.group_id}")
        self._statistics.tell(GroupEventKind.COMMIT_FAILED, error)
        is_ours = generation == self._membership.generation
        if code in _LOST_COORDINATOR:
            self._coordinator.forget(str(error), now_ms)
        elif code is ErrorCode.REBALANCE_IN_PROGRESS:
            self._membership.request_rejoin("offset commit failed since group is rebalancing")
            return RebalanceInProgressError("commit: poll, then commit again")
        elif code is ErrorCode.FENCED_INSTANCE_ID and is_ours:
            return error
        elif code in (*OUTLIVED, ErrorCode.FENCED_INSTANCE_ID):
            if not is_ours and self._membership.is_rebalancing:
                return RebalanceInProgressError("commit: of an older generation; poll first")
            if is_ours:
                self._membership.outlived(code, f"{code.name} to a commit")
            return CommitFailedError(f"commit: {_KICKED_OUT} ({code.name})")
        return error
