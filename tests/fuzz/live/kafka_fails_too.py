"""Requests that Kafka too answers with UNKNOWN_SERVER_ERROR: by key, what is odd about them.

Any other request that is so answered has met a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from logquake.controller.events.elect_leaders import ElectionType
from logquake.node.configs.alteration import Operation
from logquake.node.quotas.describing import MatchType
from logquake.wire.api import ApiKey
from logquake.wire.sentinels import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from logquake.zk.znodes.consumers import is_valid_path

Odd = Callable[[Any], bool]

OFFSETS_IN_ZOOKEEPER = 0  # the version of OffsetCommit and OffsetFetch


def kafka_fails_too(key: int, version: int, request: Any) -> bool:
    if key == ApiKey.OFFSET_COMMIT:
        # Brokers that write the first offset of a group at once (KafkaZkClient.createRecursive).
        return version == OFFSETS_IN_ZOOKEEPER
    if key == ApiKey.OFFSET_FETCH and version == OFFSETS_IN_ZOOKEEPER:
        return not is_valid_path(f"/consumers/{request.group_id}")
    odd = _ODD.get(ApiKey(key))
    return odd is not None and odd(request)


def _alters_by_no_operation(request: Any) -> bool:
    """A number that means nothing, or one for lists of a key that nobody knows."""
    return any(
        config.config_operation not in (Operation.SET, Operation.DELETE)
        for resource in request.resources
        for config in resource.configs
    )


def _elects_in_no_way(request: Any) -> bool:
    return request.election_type not in ElectionType.__members__.values()


def _matches_in_no_way(request: Any) -> bool:
    """By a number that means nothing, or exactly nobody."""
    return any(
        each.match_type not in MatchType.__members__.values()
        or (each.match_type == MatchType.EXACT and not each.match)
        for each in request.components
    )


def _marks_for_nobody(request: Any) -> bool:
    return any(
        each.producer_id == NO_PRODUCER_ID or each.producer_epoch == NO_PRODUCER_EPOCH
        for each in request.markers
    )


def _wants_fewer_than_none(request: Any) -> bool:
    return any(
        partition.max_num_offsets < 0 for topic in request.topics for partition in topic.partitions
    )


_ODD: Mapping[ApiKey, Odd] = {
    ApiKey.INCREMENTAL_ALTER_CONFIGS: _alters_by_no_operation,
    ApiKey.ELECT_LEADERS: _elects_in_no_way,
    ApiKey.DESCRIBE_CLIENT_QUOTAS: _matches_in_no_way,
    ApiKey.WRITE_TXN_MARKERS: _marks_for_nobody,
    ApiKey.LIST_OFFSETS: _wants_fewer_than_none,
}
