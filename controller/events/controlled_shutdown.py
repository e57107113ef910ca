"""ControlledShutdown (7): a broker leaves; what it leads goes to others first.

KafkaController.doControlledShutdown. Partitions with one replica stay where they are: they go
offline with the broker whatever is done. The answer names those that it still leads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from logquake.controller.journal_events import BROKER_LEAVING
from logquake.controller.rules.partitions import Replica
from logquake.controller.state_machines import partition_state_machine, replica_state_machine
from logquake.controller.state_machines.partition_state_machine import ElectionStrategy
from logquake.controller.term import Term
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.broker_to_controller import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    RemainingPartition,
)
from logquake.wire.sentinels import UNKNOWN_BROKER_EPOCH
from logquake.wire.topic_partition import TopicPartition


async def controlled_shutdown(
    term: Term,
    request: ControlledShutdownRequest,
    reply: Callable[[ControlledShutdownResponse], None],
) -> None:
    """Raises ControllerMoved, ZkFailure."""
    broker_id = request.broker_id
    broker = term.context.brokers.get(broker_id)
    if broker is None:
        reply(ControlledShutdownResponse(error_code=ErrorCode.BROKER_NOT_AVAILABLE))
        return
    if request.broker_epoch != UNKNOWN_BROKER_EPOCH and request.broker_epoch < broker.epoch:
        reply(ControlledShutdownResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
        return
    term.context.shutting_down.add(broker_id)
    term.note(BROKER_LEAVING, f"broker-{broker_id}", "it asked for a controlled shutdown")
    await _move_away(term, broker_id)
    remaining = [each for each in term.context.led_by(broker_id) if _is_replicated(term, each)]
    reply(
        ControlledShutdownResponse(
            remaining_partitions=[
                RemainingPartition(topic_name=each.topic, partition_index=each.partition)
                for each in remaining
            ]
        )
    )


async def _move_away(term: Term, broker_id: int) -> None:
    led = [each for each in term.context.led_by(broker_id) if _is_replicated(term, each)]
    followed = [each for each in _followed_by(term, broker_id) if _is_replicated(term, each)]
    await partition_state_machine.bring_online(term, led, ElectionStrategy.CONTROLLED_SHUTDOWN)
    await _stop_following(term, broker_id, followed)
    replicas = [Replica(each, broker_id) for each in followed]
    await replica_state_machine.take_offline(term, replicas, f"broker {broker_id} shuts down")


def _followed_by(term: Term, broker_id: int) -> list[TopicPartition]:
    """Those of the broker's replicas that another one leads, or none."""
    context = term.context
    return [
        partition
        for partition, _ in context.replicas_on([broker_id])
        if partition.topic not in context.topics_to_delete
        and partition in context.leaderships
        and context.leaderships[partition].state.leader != broker_id
    ]


async def _stop_following(term: Term, broker_id: int, partitions: Iterable[TopicPartition]) -> None:
    """Before the ISR shrinks: a follower that fetched on would be taken in again."""
    batch = term.batch()
    for partition in partitions:
        batch.stop(broker_id, partition, delete=False)
    await term.send(batch)


def _is_replicated(term: Term, partition: TopicPartition) -> bool:
    return len(term.context.assignment(partition).replicas) > 1
