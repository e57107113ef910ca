"""Keeps what calls say, as Said.java does: a value, or the name of an error."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from logquake.client.errors import (
    BrokerError,
    ClientError,
    TimedOutError,
    UnsupportedVersionError,
)
from logquake.client.network.effects import Node
from logquake.client.sync.futures import Future
from logquake.wire.errors import ErrorCode
from tests.waiting import PATIENCE_S

# What Java's client calls the error of a code (org.apache.kafka.common.protocol.Errors).
EXCEPTIONS: Final = {
    ErrorCode.TOPIC_ALREADY_EXISTS: "TopicExistsException",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "UnknownTopicOrPartitionException",
    ErrorCode.UNKNOWN_TOPIC_ID: "UnknownTopicIdException",
    ErrorCode.INVALID_TOPIC_EXCEPTION: "InvalidTopicException",
    ErrorCode.INVALID_PARTITIONS: "InvalidPartitionsException",
    ErrorCode.INVALID_REPLICATION_FACTOR: "InvalidReplicationFactorException",
    ErrorCode.INVALID_REPLICA_ASSIGNMENT: "InvalidReplicaAssignmentException",
    ErrorCode.INVALID_CONFIG: "InvalidConfigurationException",
    ErrorCode.INVALID_REQUEST: "InvalidRequestException",
    ErrorCode.OFFSET_OUT_OF_RANGE: "OffsetOutOfRangeException",
    ErrorCode.ELECTION_NOT_NEEDED: "ElectionNotNeededException",
    ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE: "EligibleLeadersNotAvailableException",
    ErrorCode.UNKNOWN_SERVER_ERROR: "UnknownServerException",
    ErrorCode.UNACCEPTABLE_CREDENTIAL: "UnacceptableCredentialException",
    ErrorCode.RESOURCE_NOT_FOUND: "ResourceNotFoundException",
    ErrorCode.DUPLICATE_RESOURCE: "DuplicateResourceException",
    ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: "UnsupportedByAuthenticationException",
    ErrorCode.LOG_DIR_NOT_FOUND: "LogDirNotFoundException",
    ErrorCode.REPLICA_NOT_AVAILABLE: "ReplicaNotAvailableException",
    ErrorCode.FEATURE_UPDATE_FAILED: "FeatureUpdateFailedException",
    ErrorCode.INVALID_UPDATE_VERSION: "InvalidUpdateVersionException",
    ErrorCode.UNKNOWN_MEMBER_ID: "UnknownMemberIdException",
    ErrorCode.GROUP_ID_NOT_FOUND: "GroupIdNotFoundException",
    ErrorCode.NON_EMPTY_GROUP: "GroupNotEmptyException",
    ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC: "GroupSubscribedToTopicException",
    ErrorCode.NO_REASSIGNMENT_IN_PROGRESS: "NoReassignmentInProgressException",
    ErrorCode.TRANSACTIONAL_ID_NOT_FOUND: "TransactionalIdNotFoundException",
    ErrorCode.UNSUPPORTED_VERSION: "UnsupportedVersionException",
}


class Said:
    def __init__(self) -> None:
        self.lines: dict[str, str] = {}

    def of(self, call: str, made: Callable[[], object]) -> None:
        try:
            self.lines[call] = text(made())
        except ClientError as error:
            self.lines[call] = name_of(error)


def name_of(error: ClientError) -> str:
    if isinstance(error, BrokerError):
        return EXCEPTIONS.get(error.code, error.code.name)
    if isinstance(error, TimedOutError):
        return "TimeoutException"
    if isinstance(error, UnsupportedVersionError):
        return "UnsupportedVersionException"
    return type(error).__name__


def all_of(futures: Mapping[Any, Future[Any]]) -> dict[Any, Any]:
    """What each comes to, or the error of the first that fails."""
    return {key: future.result(PATIENCE_S) for key, future in futures.items()}


def done(futures: Mapping[Any, Future[Any]]) -> None:
    """Of calls that come to nothing but an end."""
    all_of(futures)


def text(value: object) -> str:
    """As Java writes it; what has no order is put into one."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Mapping):
        shown = sorted((text(key), text(each)) for key, each in value.items())
        return "{" + ", ".join(f"{key}={each}" for key, each in shown) + "}"
    if isinstance(value, set | frozenset):
        return "[" + ", ".join(sorted(map(text, value))) + "]"
    if isinstance(value, Node):
        return f"{value.host}:{value.port} (id: {value.id} rack: {text(value.rack)})"
    if isinstance(value, Collection) and not isinstance(value, str | tuple):
        return "[" + ", ".join(map(text, value)) + "]"
    return str(value)


def optional(value: object) -> str:
    """As Java writes an Optional."""
    return "Optional.empty" if value is None else f"Optional[{value}]"
