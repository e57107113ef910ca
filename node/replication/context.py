"""What every partition of one broker shares: identity, settings, and the ways out of the core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from logquake.controller.journal import Journal
from logquake.controller.ports import Scheduler
from logquake.node.replication.settings import ReplicationSettings

if TYPE_CHECKING:
    from logquake.node.replication.alter_partition import IsrProposal
    from logquake.node.replication.partition import Partition


@dataclass(frozen=True, slots=True)
class PartitionContext:
    """``is_alive`` tells whether a broker is registered, as far as the metadata cache knows.

    ``propose`` sends an ISR change to the controller. ``touched`` is told of every partition
    whose readable data, leadership or high watermark changed: whoever waits on it is woken at
    the end of the pass. ``disk_failed`` takes the directory of a partition's log, and why.
    """

    broker_id: int
    settings: ReplicationSettings
    scheduler: Scheduler
    journal: Journal
    is_alive: Callable[[int], bool]
    propose: Callable[[IsrProposal], None]
    touched: Callable[[Partition], None]
    disk_failed: Callable[[str, str], None]
