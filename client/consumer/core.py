"""The core of a consumer: does what is due, whether or not the program polls.

It is driven like `MetadataUpdates`. Errors are kept for the program's next call.
"""

from __future__ import annotations

from typing import NamedTuple

from logquake.client.consumer.cluster import leader_of
from logquake.client.consumer.failures import Failures
from logquake.client.consumer.fetch.fetch_requests import FetchRequests
from logquake.client.consumer.group.coordination import Coordination
from logquake.client.consumer.positions.epoch_ends import SINCE as EPOCHS_SINCE
from logquake.client.consumer.positions.resets import Resets
from logquake.client.consumer.positions.validations import Validations
from logquake.client.consumer.questions import ProgramQuestions
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.consumer.ungrouped import Ungrouped
from logquake.client.errors import AuthenticationFailedError, ClientError, broker_error
from logquake.client.network.metadata import Metadata
from logquake.client.network.metadata_updates import MetadataUpdates
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.snapshot import Snapshot
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.offsets import OffsetForLeaderEpochRequest

# Errors of wanted topics. Other errors pass, or show when the topic is read.
_TOLD_OF_TOPICS = (ErrorCode.INVALID_TOPIC_EXCEPTION, ErrorCode.TOPIC_AUTHORIZATION_FAILED)


class Parts(NamedTuple):
    """The parts of a consumer, each of which has its own work to do."""

    updates: MetadataUpdates
    validations: Validations
    resets: Resets
    group: Coordination | Ungrouped
    fetches: FetchRequests
    questions: ProgramQuestions


class ConsumerCore:
    def __init__(
        self,
        parts: Parts,
        subscriptions: Subscriptions,
        network: NetworkClient,
        metadata: Metadata,
        failures: Failures,
    ) -> None:
        self._parts = parts
        self._subscriptions = subscriptions
        self._network = network
        self._metadata = metadata
        self._failures = failures
        self._followed: Snapshot | None = None
        self._noted: dict[int, ClientError] = {}
        self._updates_failed: ClientError | None = None

    def poll(self, now_ms: int) -> None:
        parts = self._parts
        parts.updates.poll(now_ms)
        self._note_refusals()
        self.follow_metadata()
        parts.group.poll(now_ms)
        parts.validations.poll(now_ms)
        parts.resets.poll(now_ms)
        parts.questions.poll(now_ms)
        parts.fetches.poll(now_ms)
        if not self._metadata.update_delay_ms(now_ms):  # a response showed it to be stale
            parts.updates.poll(now_ms)

    def next_due_ms(self, now_ms: int) -> int | None:
        parts = self._parts
        if parts.validations.has_answers or parts.resets.has_answers:
            return now_ms
        retry_ms = self._subscriptions.next_retry_ms(now_ms)
        due = [
            parts.updates.next_due_ms(now_ms),
            parts.group.next_due_ms(now_ms),
            parts.questions.next_due_ms(now_ms),
            parts.fetches.next_due_ms(now_ms),
            retry_ms,
        ]
        return min((each for each in due if each is not None), default=None)

    def abandon(self, _why: ClientError) -> None:
        """Nothing to do: a program learns of failure in its calls, from their driver."""

    def follow_metadata(self) -> None:
        """Move positions to the partitions' current leaders."""
        snapshot = self._metadata.snapshot
        if snapshot is self._followed:
            return
        self._followed = snapshot
        self._note_topics(snapshot)
        self._subscriptions.follow_leaders(
            lambda place: leader_of(snapshot, place), self._can_validate
        )

    def _can_validate(self, node_id: int) -> bool:
        """Without a connection we cannot know what the broker supports, and assume it can."""
        try:
            version = self._network.version_of(node_id, OffsetForLeaderEpochRequest)
        except ClientError as error:
            return error.retriable
        return version >= EPOCHS_SINCE

    def _note_topics(self, snapshot: Snapshot) -> None:
        for name, info in snapshot.topics.items():
            if info.error in _TOLD_OF_TOPICS:
                self._failures.note(broker_error(info.error, f"topic {name}"))

    def _note_refusals(self) -> None:
        """Failed authentication and unsupported versions do not go away by themselves."""
        for node in self._metadata.nodes():
            failure = self._network.failure(node.id)
            is_new = self._noted.get(node.id) is not failure
            if isinstance(failure, AuthenticationFailedError) and is_new:
                self._noted[node.id] = failure
                self._failures.note(failure)
        if self._parts.updates.failure is not self._updates_failed:
            self._updates_failed = self._parts.updates.failure
            self._failures.note(self._updates_failed)
