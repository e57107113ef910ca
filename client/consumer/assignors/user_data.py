"""What the sticky assignors put into a subscription's user_data; it has no version prefix."""

from __future__ import annotations

from logquake.wire.messages.consumer_protocol import AssignedTopicPartitions
from logquake.wire.schema import Message, array, int32


class StickyUserData(Message, versions="0-1"):
    """1: generation. Which one it is, a reader has to try."""

    previous_assignment: list[AssignedTopicPartitions] = array(AssignedTopicPartitions)
    generation: int = int32("1+", default=-1, ignorable=True)


class CooperativeStickyUserData(Message, versions="0"):
    """What a member holds is in owned_partitions."""

    generation: int = int32(default=-1)
