"""The cluster, and the features of its brokers."""

from __future__ import annotations

from collections.abc import Mapping

from logquake.client.admin import cluster
from logquake.client.admin.calls.calling import Calling
from logquake.client.admin.cluster import ClusterDescription, FeatureMetadata, FeatureUpdate
from logquake.client.pending import Promise


class BrokerCalls(Calling):
    def describe_cluster(
        self, *, include_authorized_operations: bool = False, timeout_ms: int | None = None
    ) -> Promise[ClusterDescription]:
        return self._one(
            "listNodes",
            lambda results: cluster.describe_cluster(
                results, include_authorized_operations=include_authorized_operations
            ),
            timeout_ms,
        )

    def describe_features(self, *, timeout_ms: int | None = None) -> Promise[FeatureMetadata]:
        return self._one("describeFeatures", cluster.describe_features, timeout_ms)

    def update_features(
        self,
        updates: Mapping[str, FeatureUpdate],
        *,
        validate_only: bool = False,
        timeout_ms: int | None = None,
    ) -> dict[str, Promise[None]]:
        """By feature. Raises ValueError for no updates, or for a feature without a name."""
        if not updates or not all(name.strip() for name in updates):
            raise ValueError("features to update have to be named")
        return self._each(
            "updateFeatures",
            updates,
            lambda _, results: cluster.update_features(
                updates, results, validate_only=validate_only
            ),
            timeout_ms,
        )
