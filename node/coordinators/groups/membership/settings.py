"""What bounds a group."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GroupSettings:
    # The session time-outs that a member may ask for: how long it may be silent before the others
    # take over its partitions. A short one takes a member for dead that merely pauses.
    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 1_800_000
    # How many members a group may have. Each costs its subscription's bytes, here and in what the
    # leader is sent; one more is refused.
    max_size: int = 2**31 - 1
    # How long the first member of an empty group waits for others, and again after each that comes,
    # up to its rebalance time-out. 0 starts at once: a group that grows then rebalances each time.
    initial_rebalance_delay_ms: int = 3_000

    def allows_session_timeout(self, timeout_ms: int) -> bool:
        return self.min_session_timeout_ms <= timeout_ms <= self.max_session_timeout_ms
