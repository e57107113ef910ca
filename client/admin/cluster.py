"""The cluster: its brokers, its controller, its features (KIP-584, KIP-700)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from logquake.client.admin.asking.asks import ANYBODY, CONTROLLER, Ask, Asks, Reply, Terms, fixed
from logquake.client.admin.asking.refusals import by_controller, refusal
from logquake.client.admin.asking.results import Results
from logquake.client.admin.operations import Operations, operations_of
from logquake.client.errors import UnsupportedVersionError
from logquake.client.network import versions
from logquake.client.network.effects import Node
from logquake.wire.messages.api_versions import (
    ApiVersionsResponse,
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from logquake.wire.messages.metadata import (
    DescribeClusterRequest,
    DescribeClusterResponse,
    MetadataRequest,
    MetadataResponse,
)
from logquake.wire.schema import Message


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    """``controller`` is None without one; ``authorized_operations`` if not requested."""

    cluster_id: str | None
    controller: Node | None
    nodes: tuple[Node, ...]
    authorized_operations: Operations


def describe_cluster(
    results: Results[None, ClusterDescription], *, include_authorized_operations: bool
) -> Asks:
    """Brokers without DescribeCluster are asked for metadata instead."""
    told: Reply[DescribeClusterResponse]
    old: Reply[MetadataResponse]
    try:
        told = yield Ask(
            ANYBODY,
            DescribeClusterResponse,
            lambda _: DescribeClusterRequest(
                include_cluster_authorized_operations=include_authorized_operations
            ),
        )
    except UnsupportedVersionError:
        old = yield Ask(
            ANYBODY,
            MetadataResponse,
            lambda _: MetadataRequest(
                topics=[], include_cluster_authorized_operations=include_authorized_operations
            ),
        )
        results.settle(None, _of_metadata(old.message))
    else:
        answer = told.message
        error = refusal(answer.error_code, "the cluster", answer.error_message)
        results.settle(None, error or _of_cluster(answer))


def _of_cluster(answer: DescribeClusterResponse) -> ClusterDescription:
    nodes = [Node(each.broker_id, each.host, each.port, each.rack) for each in answer.brokers]
    return _description(
        answer.cluster_id, answer.controller_id, nodes, answer.cluster_authorized_operations
    )


def _of_metadata(answer: MetadataResponse) -> ClusterDescription:
    nodes = [Node(each.node_id, each.host, each.port, each.rack) for each in answer.brokers]
    return _description(
        answer.cluster_id, answer.controller_id, nodes, answer.cluster_authorized_operations
    )


def _description(
    cluster_id: str | None, controller_id: int, nodes: list[Node], operations: int
) -> ClusterDescription:
    controller = next((node for node in nodes if node.id == controller_id), None)
    in_order = tuple(sorted(nodes, key=lambda node: node.id))
    return ClusterDescription(cluster_id, controller, in_order, operations_of(operations))


@dataclass(frozen=True, slots=True)
class VersionRange:
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class FeatureMetadata:
    """By feature. ``finalized_epoch`` is None if no feature was ever finalized."""

    finalized: Mapping[str, VersionRange]
    finalized_epoch: int | None
    supported: Mapping[str, VersionRange]


def describe_features(results: Results[None, FeatureMetadata]) -> Asks:
    reply: Reply[ApiVersionsResponse] = yield Ask(
        ANYBODY, ApiVersionsResponse, fixed(versions.question())
    )
    answer = reply.message
    results.settle(None, refusal(answer.error_code, "the features") or _features(answer))


def _features(answer: ApiVersionsResponse) -> FeatureMetadata:
    epoch = answer.finalized_features_epoch
    return FeatureMetadata(
        {
            each.name: VersionRange(each.min_version_level, each.max_version_level)
            for each in answer.finalized_features
        },
        None if epoch < 0 else epoch,
        {
            each.name: VersionRange(each.min_version, each.max_version)
            for each in answer.supported_features
        },
    )


class UpgradeType(IntEnum):
    """Whether a feature's level may go down (FeatureUpdate.UpgradeType)."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


@dataclass(frozen=True, slots=True)
class FeatureUpdate:
    """``max_version_level`` 0 deletes the feature, which must be a downgrade."""

    max_version_level: int
    upgrade_type: UpgradeType = UpgradeType.UPGRADE


def update_features(
    updates: Mapping[str, FeatureUpdate], results: Results[str, None], *, validate_only: bool
) -> Asks:
    def request(terms: Terms) -> Message:
        return UpdateFeaturesRequest(
            timeout_ms=terms.timeout_ms,
            feature_updates=[_update(name, update, terms) for name, update in updates.items()],
            validate_only=validate_only,
        )

    reply: Reply[UpdateFeaturesResponse] = yield Ask(
        CONTROLLER, UpdateFeaturesResponse, request, by_controller
    )
    answer = reply.message
    whole = refusal(answer.error_code, "the features", answer.error_message)
    if whole:
        results.fail_rest(whole)
    for each in answer.results:
        error = refusal(each.error_code, f"feature {each.feature}", each.error_message)
        results.settle(each.feature, error)


def _update(name: str, update: FeatureUpdate, terms: Terms) -> FeatureUpdateKey:
    """Version 1 replaced the field for the type of an upgrade."""
    goes_down = update.upgrade_type is not UpgradeType.UPGRADE
    key = FeatureUpdateKey(feature=name, max_version_level=update.max_version_level)
    if terms.version == 0:
        key.allow_downgrade = goes_down
    else:
        key.upgrade_type = update.upgrade_type
    return key
