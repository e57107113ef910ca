"""The in-sync replicas of a partition that this broker leads, committed or on their way (KIP-497).

Only the controller commits an ISR. While a proposal is under way the leader does not know which
of the two sets holds, so it acts on whichever is stricter: the high watermark and acks=all wait
for ``maximal``, min.insync.replicas counts ``committed``. Members keep the order of the
partition's state znode; a new one goes to the end.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommittedIsr:
    """The ISR as the controller last confirmed it; nothing is under way."""

    committed: tuple[int, ...]

    @property
    def maximal(self) -> tuple[int, ...]:
        return self.committed

    def expand(self, replica: int) -> PendingExpand:
        return PendingExpand(self, replica, (*self.committed, replica))

    def shrink(self, removed: tuple[int, ...]) -> PendingShrink:
        return PendingShrink(self, removed, tuple(r for r in self.committed if r not in removed))


@dataclass(frozen=True, slots=True)
class PendingExpand:
    """One replica proposed for the ISR. It counts as a member at once: that is the safe side."""

    base: CommittedIsr
    replica: int
    proposed: tuple[int, ...]

    @property
    def committed(self) -> tuple[int, ...]:
        return self.base.committed

    @property
    def maximal(self) -> tuple[int, ...]:
        return self.proposed


@dataclass(frozen=True, slots=True)
class PendingShrink:
    """Replicas proposed to leave the ISR.

    They count as members until the controller confirms: were the high watermark to pass them
    before, the controller could still elect one of them and lose what lies between.
    """

    base: CommittedIsr
    removed: tuple[int, ...]
    proposed: tuple[int, ...]

    @property
    def committed(self) -> tuple[int, ...]:
        return self.base.committed

    @property
    def maximal(self) -> tuple[int, ...]:
        return self.base.committed


PendingIsr = PendingExpand | PendingShrink
IsrState = CommittedIsr | PendingIsr
EMPTY_ISR = CommittedIsr(())
