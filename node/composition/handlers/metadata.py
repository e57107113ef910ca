"""The cluster: who is there, who leads or coordinates what, and which features are finalised."""

from __future__ import annotations

from typing import Any

from logquake.node.composition.parts import Parts
from logquake.node.requests.describe_cluster import DescribeCluster
from logquake.node.requests.find_coordinator import FindCoordinator
from logquake.node.requests.handler import Handler
from logquake.node.requests.metadata import Metadata
from logquake.node.requests.update_features import UpdateFeatures


def metadata_handlers(parts: Parts) -> list[Handler[Any]]:
    cluster_id, cache, authorizer = parts.cluster_id, parts.metadata, parts.authorizer
    return [
        Metadata(
            cluster_id,
            cache,
            parts.first_metadata,
            parts.lost_leaders,
            parts.auto_creation,
            authorizer,
        ),
        DescribeCluster(cluster_id, cache, parts.first_metadata, authorizer),
        FindCoordinator(parts.coordinator_topics, cache, parts.auto_creation, authorizer),
        UpdateFeatures(parts.controller),
    ]
