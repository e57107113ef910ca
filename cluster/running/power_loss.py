"""The fault of power that went, with what was lost by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from logquake.cluster.faults.power.taking_back import TakenBack
from logquake.cluster.running.fault import Fault
from logquake.wire.topic_partition import TopicPartition


class PowerLoss(Fault):
    """``taken_back`` is what each broker's files lost, by its name."""

    def __init__(
        self,
        taken_back: Mapping[str, TakenBack],
        leader_epochs: Mapping[TopicPartition, int],
        undo: Callable[[], None],
        undo_at_once: Callable[[], None],
    ) -> None:
        super().__init__(",".join(taken_back), leader_epochs, undo, undo_at_once)
        self.taken_back = taken_back
