"""What a reader sees of transactions, under Kafka's isolation.level."""

from __future__ import annotations

from enum import IntEnum


class Isolation(IntEnum):
    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1
