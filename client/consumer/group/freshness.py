"""Matches a pattern against fresh metadata just before its member joins.

If members noticed a new topic one after the other, each would trigger a rebalance.
"""

from __future__ import annotations

from logquake.client.consumer.group.group_cluster import GroupCluster
from logquake.client.consumer.subscription import Subscriptions, ToPattern


class Freshness:
    def __init__(self, subscriptions: Subscriptions, cluster: GroupCluster) -> None:
        self._subscriptions = subscriptions
        self._cluster = cluster
        self._asked_after: int | None = None  # of the updates

    def is_given(self) -> bool:
        """Whether the metadata is fresh. If not, it is requested."""
        if not isinstance(self._subscriptions.wish, ToPattern):
            return True
        if self._asked_after is None:
            self._asked_after = self._cluster.updates
            self._cluster.request_update()
        return not self.is_waiting

    @property
    def is_waiting(self) -> bool:
        return self._asked_after == self._cluster.updates

    def used(self) -> None:
        """The member has joined, or will not."""
        self._asked_after = None
