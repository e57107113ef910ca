"""Something that was done to a member, and how to undo it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Self

from logquake.wire.topic_partition import TopicPartition


class Fault:
    """``with cluster.kill(2) as fault:`` heals at the end, also when the block raised.

    ``leader_epochs`` are those from before the fault, by topic and partition: what a wait for a
    new leader compares with. Without ``with`` nothing is healed until heal() is called, of the
    fault or of the cluster. ``undo`` returns when its member is well again; ``undo_at_once`` is
    for who has more to undo, or other faults under way, and does not wait.
    """

    def __init__(
        self,
        member: str,
        leader_epochs: Mapping[TopicPartition, int],
        undo: Callable[[], None],
        undo_at_once: Callable[[], None] | None = None,
    ) -> None:
        self.member = member
        self.leader_epochs = leader_epochs
        self.is_healed = False
        self.on_healed: Callable[[], None] = lambda: None
        self._undo = undo
        self._undo_at_once = undo_at_once or undo

    def heal(self, *, wait: bool = True) -> None:
        """Undo it, once: a fault that is healed already is left alone."""
        if self.is_healed:
            return
        undo = self._undo if wait else self._undo_at_once
        undo()
        self.is_healed = True
        self.on_healed()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.heal()
