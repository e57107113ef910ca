"""Requests to leaders about partitions that cannot be read before the response (OffsetFetcher)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Generic, TypeVar

from logquake.client.consumer.failures import Failures
from logquake.client.consumer.positions.leader_requests import LeaderRequests, Question
from logquake.client.consumer.settings import AskingSettings
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.network.link import Answer
from logquake.client.network.metadata import Metadata
from logquake.wire.topic_partition import TopicPartition

V = TypeVar("V")


class PositionRequests(Generic[V]):
    """Each partition has a value that is needed to interpret the response."""

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
        self._answers: list[tuple[Mapping[TopicPartition, V], Answer]] = []

    @property
    def has_answers(self) -> bool:
        """Whether there are responses for the next poll, which knows the time."""
        return bool(self._answers)

    def take(self) -> list[tuple[Mapping[TopicPartition, V], Answer]]:
        """The requested partitions, and the responses that have arrived."""
        answers, self._answers = self._answers, []
        return answers

    def by_leader(
        self, wanted: Mapping[TopicPartition, V], now_ms: int
    ) -> Iterator[tuple[int, dict[TopicPartition, V]]]:
        """Partitions by leader that is ready."""
        for node_id, places in self._leaders.by_leader(wanted, now_ms).items():
            yield node_id, {place: wanted[place] for place in places}

    def ask(
        self, node_id: int, about: Mapping[TopicPartition, V], question: Question, now_ms: int
    ) -> None:
        """Send; unanswered partitions are requested again after request.timeout.ms."""
        self._subscriptions.retry_at(about, now_ms + self._settings.request_timeout_ms)
        self._leaders.ask(node_id, question, partial(self._answered, about), now_ms)

    def _answered(self, about: Mapping[TopicPartition, V], answer: Answer) -> None:
        self._answers.append((about, answer))

    def fail(self, places: Iterable[TopicPartition], answer: object, now_ms: int) -> None:
        """Retry them after a back-off; ``answer`` is noted if it is an error."""
        self._subscriptions.retry_at(places, now_ms + self._settings.retry_backoff_ms)
        self._metadata.request_update()
        self._failures.note(answer)
