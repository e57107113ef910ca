"""A partition's state was written by somebody else, or deleted: one set aside was mended, mostly.

The partition is taken up with an election, also where its leader lives: brokers and controller may
have gone different ways meanwhile, and a new leader epoch is what they agree on. A state that was
deleted makes the partition a new one, as for Kafka's next controller.

Caveats. What is mended under the leader epoch that it had is a change only for the controller that
met the damage: the next one reads a state like any other, and a leader whose proposal was refused
meanwhile waits until the next election, as with Kafka. Brokers obey the new state if its leader
epoch and its znode's version are later than those they know. So it is a damaged znode that is to be
overwritten, with what it held; one that is deleted and made again counts from 0, and brokers that
go on running hold on to what they knew.
"""

from __future__ import annotations

from logquake.controller.rules.partitions import PartitionStatus
from logquake.controller.state_machines import partition_state_machine
from logquake.controller.state_machines.partition_state_machine import ElectionStrategy
from logquake.controller.term import Term
from logquake.wire.topic_partition import TopicPartition


async def state_written(term: Term, partition: TopicPartition) -> None:
    """Raises ControllerMoved, ZkFailure."""
    context = term.context
    states = await term.zk.read_states([partition])
    is_known = bool(context.assignment(partition).replicas)
    if not is_known or partition.topic in context.topics_to_delete or term.is_set_aside(partition):
        return
    if partition in states:
        context.take_in(partition, states[partition])
        context.set_status(partition, PartitionStatus.OFFLINE)
    else:
        context.set_status(partition, PartitionStatus.NEW)
    await partition_state_machine.bring_online(term, [partition], ElectionStrategy.OFFLINE)
