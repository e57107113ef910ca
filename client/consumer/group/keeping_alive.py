"""Keeps a member alive by heartbeats, or makes it leave (AbstractCoordinator.HeartbeatThread)."""

from __future__ import annotations

import logging
from functools import partial

from logquake.client.consumer.group import requests
from logquake.client.consumer.group.coordinator import Coordinator
from logquake.client.consumer.group.generation import Generation, InGeneration
from logquake.client.consumer.group.heartbeat import Heartbeat
from logquake.client.consumer.group.membership import OUTLIVED, Membership
from logquake.client.consumer.group.settings import GroupSettings
from logquake.client.consumer.group.statistics import GroupStatistics
from logquake.client.errors import broker_error
from logquake.client.network.link import Answer
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_membership import HeartbeatResponse

_LOG = logging.getLogger(__name__)


class KeepingAlive:
    """From the moment a member joins a generation, including the time in which it waits for its
    assignment.
    """

    def __init__(
        self,
        settings: GroupSettings,
        coordinator: Coordinator,
        membership: Membership,
        heartbeat: Heartbeat,
        statistics: GroupStatistics,
    ) -> None:
        self._settings = settings
        self._coordinator = coordinator
        self._membership = membership
        self._heartbeat = heartbeat
        self._statistics = statistics

    def poll(self, now_ms: int) -> None:
        if not isinstance(self._membership.stage, InGeneration):
            return
        if not self._coordinator.find():
            return
        if self._session_ends_ms() <= now_ms:
            self._coordinator.forget("session timed out without an answer to a heartbeat", now_ms)
        elif self._heartbeat.poll_ends_ms <= now_ms:
            self._leave()
        elif self._heartbeat.due_ms <= now_ms:
            self._beat(now_ms)

    def next_due_ms(self) -> int | None:
        if not isinstance(self._membership.stage, InGeneration) or not self._coordinator.is_known:
            return None
        return min(self._heartbeat.due_ms, self._session_ends_ms(), self._heartbeat.poll_ends_ms)

    def _session_ends_ms(self) -> int:
        return self._heartbeat.session_ends_ms(self._coordinator.found_ms)

    def _leave(self) -> None:
        _LOG.warning(
            "the program has not polled for max.poll.interval.ms, %d ms, and leaves group %s: "
            "raise it, or have less to do between two polls by max.poll.records",
            self._settings.max_poll_interval_ms,
            self._settings.group_id,
        )
        self._membership.leave("consumer poll timeout has expired.")

    def _beat(self, now_ms: int) -> None:
        generation = self._membership.generation
        self._heartbeat.sent(now_ms)
        done = partial(self._on_answer, generation, now_ms)
        self._coordinator.ask(requests.heartbeat(self._settings, generation, done))

    def _on_answer(self, generation: Generation, sent_ms: int, answer: Answer, now_ms: int) -> None:
        if not isinstance(answer, HeartbeatResponse):
            self._heartbeat.failed(now_ms)
            return
        self._statistics.heartbeats.add(now_ms - sent_ms, now_ms)
        code = ErrorCode.of_peer(answer.error_code)
        if code in OUTLIVED or code is ErrorCode.FENCED_INSTANCE_ID:
            self._refused(code, generation, now_ms)
        elif code in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS):
            self._heartbeat.heard(now_ms)
            if code is ErrorCode.REBALANCE_IN_PROGRESS and self._membership.is_stable:
                self._membership.request_rejoin("group is already rebalancing")
        else:
            self._coordinator.heed(code, f"{code.name} to a heartbeat", now_ms)
            self._heartbeat.failed(now_ms)

    def _refused(self, code: ErrorCode, generation: Generation, now_ms: int) -> None:
        """Errors about an older generation are ignored."""
        if generation != self._membership.generation:
            self._heartbeat.heard(now_ms)
            return
        self._membership.outlived(code, f"{code.name} to a heartbeat")
        if code is ErrorCode.FENCED_INSTANCE_ID:
            why = f"another member of group {self._settings.group_id} is "
            self._membership.failure = broker_error(code, f"{why}{self._settings.instance_id} now")
