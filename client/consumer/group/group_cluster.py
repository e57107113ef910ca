"""What a member of a group needs to know of its cluster (ConsumerMetadata)."""

from __future__ import annotations

from typing import Protocol

from logquake.client.consumer.cluster import ClusterView
from logquake.wire.topic_partition import TopicPartition


class GroupCluster(ClusterView, Protocol):
    """The topics asked about are `Subscriptions.metadata_topics`; all there are for a pattern."""

    @property
    def updates(self) -> int:
        """Answers taken in."""

    @property
    def is_update_wanted(self) -> bool:
        """Somebody asked for it, and no answer has come since."""

    def request_update_for_new_topics(self) -> None:
        """`Subscriptions.metadata_topics` has topics that nobody has asked about yet."""

    def saw_epoch(self, place: TopicPartition, epoch: int, /) -> None:
        """Of who led it when what is committed was read."""

    def update_delay_ms(self, now_ms: int, /) -> int:
        """How long until it is time to ask, 0 for now."""
