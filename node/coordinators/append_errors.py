"""What a failed append means to who asked the coordinator for it.

Clients know what to do about a coordinator's errors (look for it anew, ask again); of a partition's
they have never heard in these answers. Each kind of record has its own translation in Kafka:
GroupMetadataManager.maybeConvertOffsetCommitError, its storeGroup, and
TransactionStateManager.appendTransactionToLog.
"""

from __future__ import annotations

from collections.abc import Mapping

from logquake.wire.errors import ErrorCode

_ANY_RECORD = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
}

OF_OFFSETS: Mapping[ErrorCode, ErrorCode] = _ANY_RECORD | {
    # The verification of a transaction can end so, which older clients do not expect.
    ErrorCode.NETWORK_EXCEPTION: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
    ErrorCode.INVALID_FETCH_SIZE: ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
}

OF_GROUPS: Mapping[ErrorCode, ErrorCode] = _ANY_RECORD | {
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.INVALID_FETCH_SIZE: ErrorCode.UNKNOWN_SERVER_ERROR,
}

OF_TRANSACTIONS: Mapping[ErrorCode, ErrorCode] = _ANY_RECORD | {
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}


def told_as(error: ErrorCode, table: Mapping[ErrorCode, ErrorCode]) -> ErrorCode:
    """The error for the client; one that a table does not name is told as it is."""
    return table.get(error, error)
