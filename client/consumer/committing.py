"""Commits, and looking up what is committed (KafkaConsumer's commitSync and others)."""

from __future__ import annotations

from collections.abc import Collection

from logquake.client.arguments import check_callable, check_offsets, check_places
from logquake.client.consumer.calls import Calls
from logquake.client.consumer.group.coordination import Coordination
from logquake.client.consumer.group.listener import CommitCallback, Offsets, unheard
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.consumer.ungrouped import Ungrouped
from logquake.client.driving.steps import Steps
from logquake.client.network.metadata import Metadata
from logquake.wire.topic_partition import TopicPartition


class Committing:
    """All raise NoGroupError for a consumer without a group."""

    def __init__(self, calls: Calls, metadata: Metadata, group: Coordination | Ungrouped) -> None:
        self._calls = calls
        self._metadata = metadata
        self._group = group

    def commit(self, offsets: Offsets | None, timeout_ms: int) -> Steps[None]:
        """See `Coordination.commit`."""
        with self._calls.one_at_a_time():
            self._look_at(offsets)
            deadline_ms = self._calls.now_ms() + timeout_ms
            yield from self._calls.wakeable(self._group.commit(offsets, deadline_ms))

    def commit_async(self, offsets: Offsets | None, callback: CommitCallback | None) -> Steps[None]:
        """See `Coordination.commit_async`."""
        with self._calls.one_at_a_time():
            self._look_at(offsets)
            check_callable(callback, "callback")
            yield from self._group.commit_async(offsets, callback or unheard)

    def _look_at(self, offsets: Offsets | None) -> None:
        if offsets is not None:
            check_offsets(offsets)
            self._saw_epochs(offsets)

    def _saw_epochs(self, offsets: Offsets) -> None:
        for place, offset in offsets.items():
            self._metadata.saw_epoch(place, offset.leader_epoch)

    def committed(
        self, places: Collection[TopicPartition], timeout_ms: int
    ) -> Steps[dict[TopicPartition, OffsetAndMetadata | None]]:
        """See `Coordination.committed`."""
        with self._calls.one_at_a_time():
            check_places(places)
            deadline_ms = self._calls.now_ms() + timeout_ms
            asking = self._group.committed(places, deadline_ms)
            found = yield from self._calls.wakeable(asking)
            self._saw_epochs({place: told for place, told in found.items() if told is not None})
            return found
