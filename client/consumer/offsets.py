"""Committed offsets, and who commits them (OffsetAndMetadata, ConsumerGroupMetadata)."""

from __future__ import annotations

from typing import NamedTuple

from logquake.wire.sentinels import NO_GENERATION, NO_LEADER_EPOCH, UNKNOWN_MEMBER_ID


class OffsetAndMetadata(NamedTuple):
    """``offset`` is the next to be read. ``leader_epoch`` is that of the record before it, if
    known: a log without it was truncated (KIP-320). ``metadata`` is any string of the program's.
    """

    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""


class ConsumerGroupMetadata(NamedTuple):
    """Identifies the member for a producer that commits in a transaction (KIP-447)."""

    group_id: str
    generation_id: int = NO_GENERATION
    member_id: str = UNKNOWN_MEMBER_ID
    instance_id: str | None = None
