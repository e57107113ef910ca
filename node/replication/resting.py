"""Partitions of a fetch session that need no look until they change.

A partition whose last read gave nothing, no news and no error, gives the same at every further
Fetch of its session until the partition is touched or the session asks otherwise. So it rests at
the partition, which wakes it; a Fetch of ten thousand partitions costs what those cost that are
awake. A follower's Fetch is a sign of life for all of them all the same: a resting partition takes
its time from the session's clock (Kafka's Replica.updateFetchStateOrThrow, called for each).
"""

from __future__ import annotations

from typing import Protocol


class FetchClock:
    """When a session's last Fetch came; monotonic."""

    __slots__ = ("last_fetch_ms",)

    def __init__(self, now_ms: int) -> None:
        self.last_fetch_ms = now_ms


class Resting(Protocol):
    """What rests: one partition of one session."""

    @property
    def replica_id(self) -> int:
        """The follower whose session it is; CONSUMER_REPLICA_ID for a consumer's."""

    @property
    def clock(self) -> FetchClock: ...

    def wake(self) -> None:
        """The partition has changed, and has forgotten about what rested there."""


class RestingPlace(Protocol):
    """Where it rests: a partition of this broker.

    ``changes`` counts how often the partition was touched. A read may rest only if that is still
    what it was when the partition was read.
    """

    changes: int

    def rest(self, resting: Resting) -> None: ...

    def stir(self, resting: Resting) -> None:
        """Forget what rests here: its session wants to look again, or is gone."""
