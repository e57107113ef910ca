"""Partition states as a decision begins with them: what the context has, and else ZooKeeper.

Only controllers write states, and the one in office takes in what it writes; so of thousands of
partitions none has to be read before its next state is written over the version that it had. Who
wrote there all the same shows by that version: then the state is read, and decided upon again. So
it is before a partition is left without a leader, as nothing is written then. (Kafka reads each
state before it decides, and writes over the version too.)
"""

from __future__ import annotations

from collections.abc import Sequence

from logquake.controller.rules.partitions import Leadership
from logquake.controller.term import Term
from logquake.wire.topic_partition import TopicPartition

DECIDED_AT_A_TIME = 250
"""Partitions in a slice of a decision: each is some 60 us of work, from the rule to the journal."""


async def known_states(
    term: Term, partitions: Sequence[TopicPartition]
) -> dict[TopicPartition, Leadership]:
    """Without those that have no state, and those whose state is set aside.

    Raises ControllerMoved, ZkFailure.
    """
    leaderships = term.context.leaderships
    known = {
        each: leaderships[each]
        for each in partitions
        if each in leaderships and not term.is_set_aside(each)
    }
    unknown = [each for each in partitions if each not in known]
    return {**known, **await term.zk.read_states(unknown)} if unknown else known
