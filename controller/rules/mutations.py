"""How much of the cluster one client may change at a time (KIP-599)."""

from __future__ import annotations

from collections.abc import Callable

from logquake.controller.rules.topic_rules import TopicRefused
from logquake.wire.errors import ErrorCode

MayMutate = Callable[[int], bool]
"""Whether so many partitions may come or go; where they may, they count."""


def any_mutations(_partitions: int) -> bool:
    return True


def check_mutations(may_mutate: MayMutate, partitions: int) -> None:
    """Raises TopicRefused."""
    if not may_mutate(partitions):
        raise TopicRefused(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
