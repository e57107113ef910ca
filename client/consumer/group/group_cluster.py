"""What a member of a group needs to know of its cluster (ConsumerMetadata)."""

from __future__ import annotations

from typing import Protocol

from logquake.client.consumer.cluster import ClusterView
from logquake.wire.topic_partition import TopicPartition


class GroupCluster(ClusterView, Protocol):
    """It requests the topics in `Subscriptions.metadata_topics`; for a pattern, all topics."""

    @property
    def updates(self) -> int:
        """How many responses were taken in."""

    @property
    def is_update_wanted(self) -> bool:
        """An update was requested, and no response has come since."""

    def request_update_for_new_topics(self) -> None:
        """`Subscriptions.metadata_topics` has topics that were not requested yet."""

    def saw_epoch(self, place: TopicPartition, epoch: int, /) -> None:
        """The epoch in which the committed records were read."""

    def update_delay_ms(self, now_ms: int, /) -> int:
        """How long until the next request, 0 for now."""
