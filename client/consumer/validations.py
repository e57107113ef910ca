"""Asking new leaders whether their logs are what was read (KIP-320, OffsetFetcher)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from logquake.client.consumer import epoch_ends
from logquake.client.consumer.failures import Failures
from logquake.client.consumer.leader_requests import LeaderRequests
from logquake.client.consumer.position import FetchPosition, LogTruncatedError
from logquake.client.consumer.settings import AskingSettings
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.network.link import Answer
from logquake.client.network.metadata import Metadata
from logquake.wire.messages.offsets import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from logquake.wire.topic_partition import TopicPartition

_Positions = Mapping[TopicPartition, FetchPosition]


class Validations:
    """A core over `Subscriptions`, where it is said which positions await one."""

    def __init__(
        self,
        settings: AskingSettings,
        subscriptions: Subscriptions,
        metadata: Metadata,
        leaders: LeaderRequests,
        failures: Failures,
    ) -> None:
        self._settings = settings
        self._subscriptions = subscriptions
        self._metadata = metadata
        self._leaders = leaders
        self._failures = failures
        self._answers: list[tuple[_Positions, Answer]] = []

    @property
    def has_answers(self) -> bool:
        """To be looked at in the next poll, which knows the time."""
        return bool(self._answers)

    def poll(self, now_ms: int) -> None:
        answers, self._answers = self._answers, []
        for asked, answer in answers:
            self._heed(asked, answer, now_ms)
        wanted = self._subscriptions.needing_validation(now_ms)
        for node_id, places in self._leaders.by_leader(wanted, now_ms).items():
            self._ask(node_id, {place: wanted[place] for place in places}, now_ms)

    def _ask(self, node_id: int, asked: _Positions, now_ms: int) -> None:
        if not self._leaders.knows(node_id, OffsetForLeaderEpochRequest, epoch_ends.SINCE):
            self._believe(asked)
            return
        self._subscriptions.retry_at(asked, now_ms + self._settings.request_timeout_ms)
        done = partial(self._answered, asked)
        self._leaders.ask(node_id, epoch_ends.question(asked), done, now_ms)

    def _answered(self, asked: _Positions, answer: Answer) -> None:
        self._answers.append((asked, answer))

    def _believe(self, asked: _Positions) -> None:
        """Whoever leads cannot say."""
        for place, position in asked.items():
            self._subscriptions.of(place).seek(position)

    def _heed(self, asked: _Positions, answer: Answer, now_ms: int) -> None:
        if not isinstance(answer, OffsetForLeaderEpochResponse):
            self._fail(asked, answer, now_ms)
            return
        told = epoch_ends.ends(asked, answer)
        if told.refused is not None:
            self._fail(asked, told.refused, now_ms)
            return
        if told.again:
            self._fail(told.again, None, now_ms)
        truncations = [
            truncation
            for place, end in told.told.items()
            if (truncation := self._subscriptions.validated(place, asked[place], end)) is not None
        ]
        if truncations:
            self._failures.note(LogTruncatedError(truncations))

    def _fail(self, places: Iterable[TopicPartition], answer: Answer | None, now_ms: int) -> None:
        self._subscriptions.retry_at(places, now_ms + self._settings.retry_backoff_ms)
        self._metadata.request_update()
        self._failures.note(answer)
