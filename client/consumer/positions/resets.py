"""Resets positions to the beginning or the end of a log (OffsetFetcher's resets)."""

from __future__ import annotations

from collections.abc import Mapping

from logquake.client.consumer.cluster import leader_of
from logquake.client.consumer.position import FetchPosition
from logquake.client.consumer.positions.offset_lists import (
    AskedTime,
    OffsetAndTimestamp,
    listed,
    question,
)
from logquake.client.consumer.positions.position_requests import PositionRequests
from logquake.client.consumer.settings import OffsetReset
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.isolation import Isolation
from logquake.client.network.link import Answer
from logquake.client.network.metadata import Metadata
from logquake.wire.messages.offsets import ListOffsetsResponse
from logquake.wire.sentinels import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition

_TIME_OF = {OffsetReset.EARLIEST: EARLIEST_TIMESTAMP, OffsetReset.LATEST: LATEST_TIMESTAMP}

_Policies = Mapping[TopicPartition, OffsetReset]


class Resets:
    """A core over `Subscriptions`, which knows the partitions that await a reset."""

    def __init__(
        self,
        isolation: Isolation,
        subscriptions: Subscriptions,
        metadata: Metadata,
        requests: PositionRequests[OffsetReset],
    ) -> None:
        self._isolation = isolation
        self._subscriptions = subscriptions
        self._metadata = metadata
        self._requests = requests

    @property
    def has_answers(self) -> bool:
        return self._requests.has_answers

    def poll(self, now_ms: int) -> None:
        for policies, answer in self._requests.take():
            self._heed(policies, answer, now_ms)
        wanted = self._subscriptions.needing_reset(now_ms)
        for node_id, policies in self._requests.by_leader(wanted, now_ms):
            self._ask(node_id, policies, now_ms)

    def _ask(self, node_id: int, policies: _Policies, now_ms: int) -> None:
        snapshot = self._metadata.snapshot
        asked = {
            place: AskedTime(_TIME_OF[policy], leader_of(snapshot, place).epoch)
            for place, policy in policies.items()
        }
        about = question(asked, self._isolation, by_time=False)
        self._requests.ask(node_id, policies, about, now_ms)

    def _heed(self, policies: _Policies, answer: Answer, now_ms: int) -> None:
        if not isinstance(answer, ListOffsetsResponse):
            self._requests.fail(policies, answer, now_ms)
            return
        told = listed(policies, answer, by_time=False)
        missing = policies.keys() - told.found.keys()
        if missing:
            self._requests.fail(missing, told.refused, now_ms)
        for place, found in told.found.items():
            self._found(place, policies[place], found)

    def _found(self, place: TopicPartition, policy: OffsetReset, found: OffsetAndTimestamp) -> None:
        """Without an epoch: a leader's statement about its own log needs no validation."""
        leader = leader_of(self._metadata.snapshot, place)
        self._metadata.saw_epoch(place, found.leader_epoch)
        position = FetchPosition(found.offset, leader=leader)
        self._subscriptions.was_reset(place, policy, position)
