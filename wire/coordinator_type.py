"""What is coordinated, as FindCoordinator's key_type says it."""

from __future__ import annotations

from enum import IntEnum


class CoordinatorType(IntEnum):
    """Kafka's FindCoordinatorRequest.CoordinatorType."""

    GROUP = 0
    TRANSACTION = 1
