"""Asks new leaders whether their logs match what was read (KIP-320, OffsetFetcher)."""

from __future__ import annotations

from collections.abc import Mapping

from logquake.client.consumer.failures import Failures
from logquake.client.consumer.position import FetchPosition, LogTruncatedError
from logquake.client.consumer.positions import epoch_ends
from logquake.client.consumer.positions.leader_requests import LeaderRequests
from logquake.client.consumer.positions.position_requests import PositionRequests
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.network.link import Answer
from logquake.wire.messages.offsets import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from logquake.wire.topic_partition import TopicPartition

_Positions = Mapping[TopicPartition, FetchPosition]


class Validations:
    """A core over `Subscriptions`, which knows the positions that await validation."""

    def __init__(
        self,
        subscriptions: Subscriptions,
        leaders: LeaderRequests,
        failures: Failures,
        requests: PositionRequests[FetchPosition],
    ) -> None:
        self._subscriptions = subscriptions
        self._leaders = leaders
        self._failures = failures
        self._requests = requests

    @property
    def has_answers(self) -> bool:
        return self._requests.has_answers

    def poll(self, now_ms: int) -> None:
        for asked, answer in self._requests.take():
            self._heed(asked, answer, now_ms)
        wanted = self._subscriptions.needing_validation(now_ms)
        for node_id, positions in self._requests.by_leader(wanted, now_ms):
            self._ask(node_id, positions, now_ms)

    def _ask(self, node_id: int, asked: _Positions, now_ms: int) -> None:
        if self._leaders.knows(node_id, OffsetForLeaderEpochRequest, epoch_ends.SINCE):
            self._requests.ask(node_id, asked, epoch_ends.question(asked), now_ms)
        else:
            self._believe(asked)

    def _believe(self, asked: _Positions) -> None:
        """Trust a leader that cannot validate positions."""
        for place, position in asked.items():
            self._subscriptions.of(place).seek(position)

    def _heed(self, asked: _Positions, answer: Answer, now_ms: int) -> None:
        if not isinstance(answer, OffsetForLeaderEpochResponse):
            self._requests.fail(asked, answer, now_ms)
            return
        told = epoch_ends.ends(asked, answer)
        if told.refused is not None:
            self._requests.fail(asked, told.refused, now_ms)
            return
        if told.again:
            self._requests.fail(told.again, None, now_ms)
        truncations = [
            truncation
            for place, end in told.told.items()
            if (truncation := self._subscriptions.validated(place, asked[place], end)) is not None
        ]
        if truncations:
            self._failures.note(LogTruncatedError(truncations))
