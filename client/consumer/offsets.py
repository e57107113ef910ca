"""Committed offsets, and who commits them (OffsetAndMetadata, ConsumerGroupMetadata)."""

from __future__ import annotations

from typing import NamedTuple

from logquake.wire.sentinels import NO_GENERATION, NO_LEADER_EPOCH, UNKNOWN_MEMBER_ID


class OffsetAndMetadata(NamedTuple):
    """``offset`` is read next. ``leader_epoch`` is that of the record before it, if it is known:
    a log that has it no more was cut off (KIP-320). ``metadata`` is the program's own.
    """

    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""


class ConsumerGroupMetadata(NamedTuple):
    """Who commits, for a producer that does it in a transaction (KIP-447)."""

    group_id: str
    generation_id: int = NO_GENERATION
    member_id: str = UNKNOWN_MEMBER_ID
    instance_id: str | None = None
