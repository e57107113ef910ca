"""Kafka's three translations of what an append may end with."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from logquake.node.coordinators.append_errors import (
    OF_GROUPS,
    OF_OFFSETS,
    OF_TRANSACTIONS,
    told_as,
)
from logquake.wire.errors import ErrorCode

GONE = ErrorCode.NOT_COORDINATOR
AWAY = ErrorCode.COORDINATOR_NOT_AVAILABLE
UNKNOWN = ErrorCode.UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize("table", [OF_OFFSETS, OF_GROUPS, OF_TRANSACTIONS])
def test_what_all_have_in_common(table: Mapping[ErrorCode, ErrorCode]) -> None:
    assert told_as(ErrorCode.NONE, table) is ErrorCode.NONE
    assert told_as(ErrorCode.NOT_LEADER_OR_FOLLOWER, table) is GONE
    assert told_as(ErrorCode.KAFKA_STORAGE_ERROR, table) is GONE
    assert told_as(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, table) is AWAY
    assert told_as(ErrorCode.NOT_ENOUGH_REPLICAS, table) is AWAY
    assert told_as(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, table) is AWAY
    assert told_as(ErrorCode.INVALID_PRODUCER_EPOCH, table) is ErrorCode.INVALID_PRODUCER_EPOCH


@pytest.mark.parametrize(
    ("error", "offsets", "groups", "transactions"),
    [
        (
            ErrorCode.REQUEST_TIMED_OUT,
            ErrorCode.REQUEST_TIMED_OUT,
            ErrorCode.REBALANCE_IN_PROGRESS,
            AWAY,
        ),
        (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.INVALID_COMMIT_OFFSET_SIZE, UNKNOWN, UNKNOWN),
        (ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.INVALID_COMMIT_OFFSET_SIZE, UNKNOWN, UNKNOWN),
        (
            ErrorCode.NETWORK_EXCEPTION,
            ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
            ErrorCode.NETWORK_EXCEPTION,
            ErrorCode.NETWORK_EXCEPTION,
        ),
    ],
)
def test_what_each_tells_in_its_own_way(
    error: ErrorCode, offsets: ErrorCode, groups: ErrorCode, transactions: ErrorCode
) -> None:
    assert told_as(error, OF_OFFSETS) is offsets
    assert told_as(error, OF_GROUPS) is groups
    assert told_as(error, OF_TRANSACTIONS) is transactions
