"""What this broker's replica of a partition is at a moment: each role holds what only it has.

Leader is pure: it is told of fetches and times and answers with what follows; Partition acts.
A Leader object lives as long as the leadership is not interrupted, over as many leader epochs as
that takes, so whoever waits for a write can see by its identity that no truncation came between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from logquake.node.replication.partition.isr import EMPTY_ISR, CommittedIsr, IsrState
from logquake.node.replication.partition.progress import FollowerProgress
from logquake.storage.invariants import asserted_after, must_hold


@dataclass(frozen=True, slots=True)
class Unassigned:
    """The log is there, but no controller has said yet what it is for."""


@dataclass(frozen=True, slots=True)
class Follower:
    """Copies the log of leader_id, NO_LEADER while there is none."""

    leader_id: int


@dataclass(frozen=True, slots=True)
class Offline:
    """The log cannot be used: the disk failed. Only a restart of the broker ends this."""

    why: str


@asserted_after("assign", "start_epoch", "next_high_watermark", "may_join", "out_of_sync")
class Leader:
    """Takes writes, and decides which of them are committed.

    Invariants, once it has been assigned:
    - The leader is a member of the ISR, and no proposal takes it out.
    - No replica is in an ISR twice, nor among its own followers.
    - The maximal ISR has every committed member: the mark waits for whoever may be elected.
    """

    __slots__ = ("_broker_id", "epoch_start_offset", "followers", "isr")

    def __init__(self, broker_id: int) -> None:
        self._broker_id = broker_id
        self.epoch_start_offset = 0
        self.isr: IsrState = EMPTY_ISR
        self.followers: dict[int, FollowerProgress] = {}  # the assigned ones, in replica order

    def check_invariants(self) -> None:
        """Raises InvariantError; called where invariants are asserted (storage/invariants.py)."""
        isr, leader = self.isr, self._broker_id
        ends_as = isr.committed if isinstance(isr, CommittedIsr) else isr.proposed
        must_hold(leader in isr.committed and leader in ends_as, "a leader is in sync", leader, isr)
        must_hold(leader not in self.followers, "no leader follows itself", leader)
        for members in (isr.committed, ends_as):
            must_hold(len(set(members)) == len(members), "each member once", members)
        must_hold(set(isr.committed) <= set(isr.maximal), "committed within maximal", isr)
        for progress in self.followers.values():
            progress.check_invariants()

    def assign(self, replicas: tuple[int, ...], isr: CommittedIsr) -> None:
        """Keep the progress of followers that stay, forget those that go."""
        self.isr = isr
        known = self.followers
        self.followers = {
            replica: known.get(replica) or FollowerProgress()
            for replica in replicas
            if replica != self._broker_id
        }

    def start_epoch(self, log_end: int, now_ms: int, *, newly_elected: bool) -> None:
        """Begin a leader epoch at log_end: followers in the ISR get a full lag time in hand."""
        self.epoch_start_offset = log_end
        for replica, progress in self.followers.items():
            in_isr = replica in self.isr.committed
            if not newly_elected:
                progress.start_epoch(log_end, now_ms, in_isr=in_isr)
            elif in_isr:
                progress.trust_until_lagging(now_ms)

    def effective_min_isr(self, configured: int) -> int:
        """A minimum above the number of replicas could never be met (Kafka's effectiveMinIsr)."""
        return min(configured, len(self.followers) + 1)

    def has_min_isr(self, configured: int) -> bool:
        return len(self.isr.committed) >= self.effective_min_isr(configured)

    def next_high_watermark(
        self,
        log_end: int,
        now_ms: int,
        max_lag_ms: int,
        is_alive: Callable[[int], bool],
    ) -> int:
        """The smallest log end over the maximal ISR and over followers about to join it.

        A follower that is caught up but not yet a member holds the high watermark back too:
        otherwise the mark would run ahead of it for ever, and it could never join (Kafka's
        maybeIncrementLeaderHW).
        """
        mark = log_end
        members = self.isr.maximal
        for replica, progress in self.followers.items():
            if progress.log_end < mark and (
                replica in members
                or (progress.is_caught_up(log_end, now_ms, max_lag_ms) and is_alive(replica))
            ):
                mark = progress.log_end
        return mark

    def may_join(self, replica: int, high_watermark: int) -> bool:
        """Whether the ISR may be expanded by this follower (Kafka's needsExpandIsr).

        Reaching the high watermark is not enough: after an election the mark may lag behind what
        was committed in earlier epochs, all of which lies below this epoch's start.
        """
        if replica in self.isr.committed:
            return False
        log_end = self.followers[replica].log_end
        return log_end >= high_watermark and log_end >= self.epoch_start_offset

    def out_of_sync(self, log_end: int, now_ms: int, max_lag_ms: int) -> tuple[int, ...]:
        """Members to be proposed for removal, in ISR order (Kafka's getOutOfSyncReplicas)."""
        return tuple(
            replica
            for replica in self.isr.committed
            if replica != self._broker_id
            and not self._is_in_sync(replica, log_end, now_ms, max_lag_ms)
        )

    def isr_ends_at(self, log_end: int) -> bool:
        """Whether every member of the committed ISR has everything below log_end."""
        return all(
            (progress := self.followers.get(replica)) is not None and progress.log_end == log_end
            for replica in self.isr.committed
            if replica != self._broker_id
        )

    def _is_in_sync(self, replica: int, log_end: int, now_ms: int, max_lag_ms: int) -> bool:
        progress = self.followers.get(replica)
        return progress is not None and progress.is_caught_up(log_end, now_ms, max_lag_ms)


Role = Unassigned | Leader | Follower | Offline
