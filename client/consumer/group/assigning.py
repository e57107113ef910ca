"""From the generation to the assignment: the leader assigns, and SyncGroup distributes it.

Kafka's ConsumerCoordinator.onLeaderElected and SyncGroupResponseHandler.
"""

from __future__ import annotations

from functools import partial

from logquake.client.consumer.assignors.subscriptions import decode_assignment
from logquake.client.consumer.group import errands, requests
from logquake.client.consumer.group.coordinator import Coordinator
from logquake.client.consumer.group.election import Election
from logquake.client.consumer.group.errands import Beside
from logquake.client.consumer.group.generation import (
    Assigns,
    Electing,
    EncodedAssignment,
    Joined,
    Syncing,
)
from logquake.client.consumer.group.membership import Membership
from logquake.client.consumer.group.settings import GroupSettings
from logquake.client.consumer.group.statistics import GroupStatistics
from logquake.client.errors import ClientError, MalformedResponseError, broker_error
from logquake.client.network.link import Answer
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_membership import JoinGroupResponse, SyncGroupResponse

_SHORTEST_ASSIGNMENT = 2  # its version


class Assigning:
    def __init__(
        self,
        settings: GroupSettings,
        coordinator: Coordinator,
        membership: Membership,
        election: Election,
        statistics: GroupStatistics,
        beside: Beside,
    ) -> None:
        self._settings = settings
        self._coordinator = coordinator
        self._membership = membership
        self._election = election
        self._statistics = statistics
        self._beside = beside

    def begin(self, joined: JoinGroupResponse, now_ms: int) -> None:
        """The member is now in the response's generation."""
        if joined.leader != joined.member_id:
            self._sync({}, now_ms)
            return
        try:
            self._membership.stage = self._election.begin(joined, now_ms)
        except ClientError as error:
            self._membership.halt(error)

    def poll(self, now_ms: int) -> None:
        stage = self._membership.stage
        if isinstance(stage, Electing) and self._election.knows_enough(stage):
            self._elect(stage, now_ms)
        elif isinstance(stage, Assigns) and stage.errand.is_done:
            self._take_outcome(stage, now_ms)

    def next_due_ms(self, now_ms: int) -> int | None:
        stage = self._membership.stage
        return now_ms if isinstance(stage, Assigns) and stage.errand.is_done else None

    # The leader's part

    def _elect(self, stage: Electing, now_ms: int) -> None:
        given = self._election.given(stage)
        if given is None:
            assigning = self._election.assigning(stage.joined, self._membership.generation.protocol)
            self._membership.stage = Assigns(stage.joined, errands.begin(assigning, self._beside))
        else:
            self._sync(given, now_ms)

    def _take_outcome(self, stage: Assigns, now_ms: int) -> None:
        try:
            given, others = stage.errand.outcome()
        except Exception as error:  # noqa: BLE001 - an assignor of the program's may raise any
            self._membership.halt_for_assignor(error)
            return
        electing = self._election.thought_of(stage.joined, given, others)
        self._membership.stage = electing
        if self._election.knows_enough(electing):
            self._elect(electing, now_ms)

    # What every member receives

    def _sync(self, given: EncodedAssignment, now_ms: int) -> None:
        syncing = self._membership.stage = Syncing()
        done = partial(self._on_synced, syncing, now_ms)
        generation = self._membership.generation
        self._coordinator.ask(requests.sync(self._settings, generation, given, done))

    def _on_synced(self, syncing: Syncing, sent_ms: int, answer: Answer, now_ms: int) -> None:
        if self._membership.stage is not syncing:
            return
        if not isinstance(answer, SyncGroupResponse):
            self._membership.failed(answer, now_ms)
        elif answer.error_code == ErrorCode.NONE:
            self._statistics.syncs.add(now_ms - sent_ms, now_ms)
            self._take_assignment(answer, now_ms)
        else:
            self._membership.refused(answer.error_code, "assignment", now_ms)

    def _take_assignment(self, synced: SyncGroupResponse, now_ms: int) -> None:
        membership = self._membership
        if not membership.is_of_consumers(synced.protocol_type):
            return
        if synced.protocol_name not in (None, membership.generation.protocol):
            why = f"assigned by {synced.protocol_name}, not {membership.generation.protocol}"
            membership.halt(broker_error(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, why))
            return
        try:
            if len(synced.assignment) < _SHORTEST_ASSIGNMENT:
                raise MalformedResponseError("the group's leader has not thought of this member")
            joined = Joined(decode_assignment(synced.assignment))
        except MalformedResponseError as error:
            membership.halt(error)
            return
        membership.rebalanced(joined)
        self._statistics.rebalance_ended(now_ms)
