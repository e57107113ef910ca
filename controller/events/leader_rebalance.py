"""Leadership goes back to the preferred replicas when too much of it is elsewhere.

KafkaController.checkAndTriggerAutoLeaderRebalance, on a timer: for every broker whose share of
partitions led by others is above leader.imbalance.per.broker.percentage.
"""

from __future__ import annotations

from logquake.controller.journal_events import LEADERS_IMBALANCED
from logquake.controller.rules.election import Elected, elect_preferred
from logquake.controller.state_machines import partition_state_machine
from logquake.controller.state_machines.partition_state_machine import ElectionStrategy
from logquake.controller.term import Term
from logquake.wire.topic_partition import TopicPartition


async def rebalance_leaders(term: Term) -> None:
    """Raises ControllerMoved, ZkFailure."""
    limit = term.settings.leader_imbalance_per_broker_percentage / 100
    for broker_id, elsewhere in term.context.led_elsewhere().items():
        share = len(elsewhere) / term.context.preferring_count(broker_id)
        if share > limit:
            term.note(
                LEADERS_IMBALANCED,
                f"broker-{broker_id}",
                f"{share:.0%} of the partitions that prefer it are led by others",
            )
            ready = [each for each in elsewhere if _can_be_given_back(term, each)]
            await partition_state_machine.bring_online(term, ready, ElectionStrategy.PREFERRED)


def _can_be_given_back(term: Term, partition: TopicPartition) -> bool:
    state = term.context.leaderships[partition].state
    return isinstance(elect_preferred(term.context.candidates(partition), state), Elected)
