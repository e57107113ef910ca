"""What a topic may be called, and which assignments and numbers it may be created with: pure.

Rules and wording are Kafka's (common.internals.Topic, AdminZkClient.validateTopicCreate,
ZkAdminManager.createTopics), so that a client's tests on messages hold here as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from logquake.wire.errors import ErrorCode

MAX_NAME_LENGTH = 249  # leaves room for "-<partition>" and a suffix in a directory's name
CLUSTER_METADATA_TOPIC = "__cluster_metadata"  # KRaft's own log: no client may make one
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")


class TopicRefused(Exception):  # noqa: N818 - the request is at fault, not the program
    """Why a topic cannot be created, deleted or changed; ``code`` is what the client is told."""

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(message or code.name)
        self.code = code
        self.message = message


def check_name(topic: str) -> None:
    """Raises TopicRefused."""
    reason = _fault_of_name(topic)
    if reason is not None:
        raise TopicRefused(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")


def _fault_of_name(topic: str) -> str | None:
    if topic == "":
        return "the empty string is not allowed"
    if topic in (".", ".."):
        return f"'{topic}' is not allowed"
    if len(topic) > MAX_NAME_LENGTH:
        return f"the length of '{topic}' is longer than the max allowed length {MAX_NAME_LENGTH}"
    if not _LEGAL_NAME.fullmatch(topic):
        return (
            f"'{topic}' contains one or more characters other than "
            "ASCII alphanumerics, '.', '_' and '-'"
        )
    return None


def has_collision_chars(topic: str) -> bool:
    return "_" in topic or "." in topic


def check_collisions(topic: str, existing: Iterable[str]) -> None:
    """Names that differ only in '.' against '_' would share their metrics. Raises TopicRefused."""
    if not has_collision_chars(topic):
        return
    alike = topic.replace(".", "_")
    colliding = sorted(other for other in existing if other.replace(".", "_") == alike)
    if colliding:
        raise TopicRefused(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic '{topic}' collides with existing topics: {', '.join(colliding)}",
        )


def check_assignment(assignment: Mapping[int, Sequence[int]]) -> None:
    """Partitions 0, 1, 2...; as many replicas each, no broker twice. Raises TopicRefused."""
    sizes = {len(replicas) for replicas in assignment.values()}
    if len(sizes) != 1:
        reason = "All partitions should have the same number of replicas"
    elif sizes == {0}:
        reason = "Every partition needs a replica"
    elif any(len(set(replicas)) != len(replicas) for replicas in assignment.values()):
        reason = f"Duplicate replica assignment found: {_text(assignment)}"
    elif sorted(assignment) != list(range(len(assignment))):
        reason = "partitions should be a consecutive 0-based integer sequence"
    else:
        return
    raise TopicRefused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason)


def check_partition_count(count: int, most: int) -> None:
    """Raises TopicRefused."""
    if count > most:
        raise TopicRefused(
            ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request."
        )


def _text(assignment: Mapping[int, Sequence[int]]) -> str:
    return "; ".join(f"{number} -> {list(ids)}" for number, ids in sorted(assignment.items()))
