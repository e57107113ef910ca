"""The terms in which groups are coordinated here."""

from __future__ import annotations

from logquake.node.coordinators.groups.group_partition import GroupPartition
from logquake.node.coordinators.partitions import CoordinatorPartitions
from logquake.node.coordinators.term import Term
from logquake.wire.errors import ErrorCode

GroupTerm = Term[GroupPartition]
GroupPartitions = CoordinatorPartitions[GroupPartition]


def settled(found: GroupTerm | ErrorCode) -> GroupTerm | ErrorCode:
    """It, with what its log says by now of commits that nobody had an answer of."""
    if not isinstance(found, ErrorCode):
        found.state.settle_doubts(found.high_watermark)
    return found
