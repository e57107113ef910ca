"""Offsets that a program looks up: by time, the beginning, the end (Kafka's OffsetFetcher)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from logquake.client.consumer.cluster import leader_of, why_not_led
from logquake.client.consumer.positions.leader_requests import LeaderRequests
from logquake.client.consumer.positions.offset_lists import (
    AskedTime,
    OffsetAndTimestamp,
    listed,
    question,
)
from logquake.client.consumer.settings import AskingSettings
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.errors import ClientError
from logquake.client.isolation import Isolation
from logquake.client.network.link import Answer
from logquake.client.network.metadata import Metadata
from logquake.wire.messages.offsets import ListOffsetsResponse
from logquake.wire.sentinels import LATEST_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition

_Asked = Mapping[TopicPartition, AskedTime]


class OffsetSearch:
    """Satisfies `ProgramQuestion`. ``found`` lacks partitions without such a record.

    ``by_time``: fails for brokers that cannot search by record timestamp.
    """

    def __init__(
        self,
        settings: AskingSettings,
        subscriptions: Subscriptions,
        metadata: Metadata,
        leaders: LeaderRequests,
        times: Mapping[TopicPartition, int],
        *,
        by_time: bool = False,
    ) -> None:
        self._settings = settings
        self._subscriptions = subscriptions
        self._metadata = metadata
        self._leaders = leaders
        self._by_time = by_time
        self._remaining = dict(times)
        self._not_before_ms = dict.fromkeys(times, 0)
        self._in_flight: set[TopicPartition] = set()
        self._answers: list[tuple[_Asked, Answer]] = []
        self._refused = False
        self.found: dict[TopicPartition, OffsetAndTimestamp] = {}
        self.failure: ClientError | None = None

    @property
    def is_done(self) -> bool:
        return self._refused or not self._remaining

    def next_due_ms(self, now_ms: int) -> int | None:
        if self._answers:
            return now_ms
        later = (at_ms for place, at_ms in self._not_before_ms.items() if place in self._remaining)
        return min((at_ms for at_ms in later if at_ms > now_ms), default=None)

    def poll(self, now_ms: int) -> None:
        answers, self._answers = self._answers, []
        for asked, answer in answers:
            self._in_flight.difference_update(asked)
            self._heed(asked, answer, now_ms)
        if not self.is_done:
            self._ask_leaders(now_ms)

    def _ask_leaders(self, now_ms: int) -> None:
        due = [
            place
            for place in self._remaining
            if place not in self._in_flight and self._not_before_ms[place] <= now_ms
        ]
        snapshot = self._metadata.snapshot
        self.failure = next(
            filter(None, (why_not_led(snapshot, each) for each in due)), self.failure
        )
        for node_id, places in self._leaders.by_leader(due, now_ms).items():
            asked = {
                place: AskedTime(self._remaining[place], leader_of(snapshot, place).epoch)
                for place in places
            }
            self._in_flight.update(asked)
            about = question(asked, self._settings.isolation, by_time=self._by_time)
            self._leaders.ask(node_id, about, partial(self._answered, asked), now_ms)

    def _answered(self, asked: _Asked, answer: Answer) -> None:
        """Keep the response for the next poll, which knows the time."""
        self._answers.append((asked, answer))

    def _heed(self, asked: _Asked, answer: Answer, now_ms: int) -> None:
        if isinstance(answer, ListOffsetsResponse):
            self._take(asked, answer, now_ms)
        elif isinstance(answer, ClientError) and answer.retriable:
            self.failure = answer
            self._again(asked, now_ms)
        else:
            self._refuse(answer)

    def _take(self, asked: _Asked, answer: ListOffsetsResponse, now_ms: int) -> None:
        told = listed(asked, answer, by_time=self._by_time)
        if told.refused is not None:
            self._refuse(told.refused)
            return
        self._again({place: asked[place] for place in told.again}, now_ms)
        self.found |= told.found
        self.failure = None
        for place in asked.keys() - told.again:
            if self._remaining.pop(place, None) == LATEST_TIMESTAMP and place in told.found:
                self._note_end(place, told.found[place].offset)

    def _note_end(self, place: TopicPartition, end_offset: int) -> None:
        """Keep the end, from which the lag is computed."""
        state = self._subscriptions.find(place)
        if state is None:
            return
        if self._settings.isolation is Isolation.READ_COMMITTED:
            state.last_stable_offset = end_offset
        else:
            state.high_watermark = end_offset

    def _again(self, asked: _Asked, now_ms: int) -> None:
        for place in asked:
            self._not_before_ms[place] = now_ms + self._settings.retry_backoff_ms
        if asked:
            self._metadata.request_update()

    def _refuse(self, answer: Answer) -> None:
        self._refused = True
        self.failure = answer if isinstance(answer, ClientError) else None
