"""Finding where to begin: the start or the end of a partition's log (OffsetFetcher's resets)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from logquake.client.consumer.cluster import leader_of
from logquake.client.consumer.failures import Failures
from logquake.client.consumer.leader_requests import LeaderRequests
from logquake.client.consumer.offset_lists import AskedTime, OffsetAndTimestamp, listed, question
from logquake.client.consumer.position import FetchPosition
from logquake.client.consumer.settings import AskingSettings, OffsetReset
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.network.link import Answer
from logquake.client.network.metadata import Metadata
from logquake.wire.messages.offsets import ListOffsetsResponse
from logquake.wire.sentinels import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition

_TIME_OF = {OffsetReset.EARLIEST: EARLIEST_TIMESTAMP, OffsetReset.LATEST: LATEST_TIMESTAMP}

_Policies = Mapping[TopicPartition, OffsetReset]


class Resets:
    """A core over `Subscriptions`, where it is said which partitions await one."""

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
        self._answers: list[tuple[_Policies, Answer]] = []

    @property
    def has_answers(self) -> bool:
        """To be looked at in the next poll, which knows the time."""
        return bool(self._answers)

    def poll(self, now_ms: int) -> None:
        answers, self._answers = self._answers, []
        for policies, answer in answers:
            self._heed(policies, answer, now_ms)
        wanted = self._subscriptions.needing_reset(now_ms)
        for node_id, places in self._leaders.by_leader(wanted, now_ms).items():
            self._ask(node_id, {place: wanted[place] for place in places}, now_ms)

    def _ask(self, node_id: int, policies: _Policies, now_ms: int) -> None:
        snapshot = self._metadata.snapshot
        asked = {
            place: AskedTime(_TIME_OF[policy], leader_of(snapshot, place).epoch)
            for place, policy in policies.items()
        }
        self._subscriptions.retry_at(policies, now_ms + self._settings.request_timeout_ms)
        about = question(asked, self._settings.isolation, by_time=False)
        self._leaders.ask(node_id, about, partial(self._answered, policies), now_ms)

    def _answered(self, policies: _Policies, answer: Answer) -> None:
        self._answers.append((policies, answer))

    def _heed(self, policies: _Policies, answer: Answer, now_ms: int) -> None:
        if not isinstance(answer, ListOffsetsResponse):
            self._fail(policies, answer, now_ms)
            return
        told = listed(policies, answer)
        if told.refused is not None:
            self._fail(policies, told.refused, now_ms)
            return
        missing = policies.keys() - told.found.keys()
        if missing:
            self._fail(missing, None, now_ms)
        for place, found in told.found.items():
            self._found(place, policies[place], found)

    def _found(self, place: TopicPartition, policy: OffsetReset, found: OffsetAndTimestamp) -> None:
        """Without an epoch: what the leader says of its own log needs no validation."""
        leader = leader_of(self._metadata.snapshot, place)
        self._metadata.saw_epoch(place, found.leader_epoch)
        position = FetchPosition(found.offset, leader=leader)
        self._subscriptions.was_reset(place, policy, position)

    def _fail(self, places: Iterable[TopicPartition], answer: Answer | None, now_ms: int) -> None:
        self._subscriptions.retry_at(places, now_ms + self._settings.retry_backoff_ms)
        self._metadata.request_update()
        self._failures.note(answer)
