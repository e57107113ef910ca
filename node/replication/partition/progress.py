"""How far one follower has come, as its leader sees it (Kafka's Replica and ReplicaState)."""

from __future__ import annotations

from logquake.node.replication.resting import Resting
from logquake.storage.invariants import asserted_after, must_hold
from logquake.wire.sentinels import UNKNOWN_BROKER_EPOCH, UNKNOWN_OFFSET

NEVER_MS = -(2**62)  # a monotonic time before every other


@asserted_after("stir", "record_fetch", "start_epoch", "trust_until_lagging")
class FollowerProgress:
    """One follower's position, from its fetches; UNKNOWN_OFFSET until the first.

    ``last_caught_up_ms`` is the latest time at which the follower was known to have everything
    that the leader had: it decides who is in sync, together with the log end itself. While its
    fetch session lets this partition rest, the follower has everything, and each Fetch of the
    session is one of this partition: the times come from the clock of what is ``resting``.

    Invariants:
    - Before a first fetch nothing of the follower is known: no start, no broker epoch.
    - Once it fetched, the leader's end of that moment is known.
    - What rests had everything at its last fetch.
    """

    __slots__ = (
        "_last_caught_up_ms",
        "_last_fetch_ms",
        "broker_epoch",
        "leader_end_at_last_fetch",
        "log_end",
        "log_start",
        "resting",
    )

    def __init__(self) -> None:
        self.log_end = UNKNOWN_OFFSET
        self.log_start = UNKNOWN_OFFSET
        self.leader_end_at_last_fetch = UNKNOWN_OFFSET
        self.broker_epoch = UNKNOWN_BROKER_EPOCH
        self._last_fetch_ms = NEVER_MS
        self._last_caught_up_ms = NEVER_MS
        self.resting: Resting | None = None

    def check_invariants(self) -> None:
        """Raises InvariantError; called where invariants are asserted (storage/invariants.py)."""
        start, end, leader_end = self.log_start, self.log_end, self.leader_end_at_last_fetch
        if end == UNKNOWN_OFFSET:
            nothing = (UNKNOWN_OFFSET, UNKNOWN_BROKER_EPOCH)
            known = (start, self.broker_epoch)
            must_hold(known == nothing, "nothing known before a fetch", known)
        else:
            must_hold(leader_end != UNKNOWN_OFFSET, "the leader's end is known", leader_end)
        must_hold(self.resting is None or end >= leader_end, "rests caught up", end, leader_end)

    @property
    def last_caught_up_ms(self) -> int:
        if self.resting is None:
            return self._last_caught_up_ms
        return max(self._last_caught_up_ms, self.resting.clock.last_fetch_ms)

    def stir(self, resting: Resting) -> None:
        """The fetches of that session tell no more of this partition."""
        if self.resting is resting:
            self._last_caught_up_ms = self.last_caught_up_ms
            self._last_fetch_ms = max(self._last_fetch_ms, resting.clock.last_fetch_ms)
            self.resting = None

    def record_fetch(
        self,
        fetch_offset: int,
        log_start: int,
        leader_end: int,
        now_ms: int,
        broker_epoch: int,
    ) -> None:
        """Take in a fetch: everything below fetch_offset is in the follower's log.

        Nothing of this follower may rest meanwhile.

        A follower that reads what the leader had at its previous fetch was caught up then: under
        constant small appends its fetch offset never equals the leader's present end.
        """
        if fetch_offset >= leader_end:
            self._last_caught_up_ms = max(self._last_caught_up_ms, now_ms)
        elif fetch_offset >= self.leader_end_at_last_fetch:
            self._last_caught_up_ms = max(self._last_caught_up_ms, self._last_fetch_ms)
        self.log_end = fetch_offset
        self.log_start = log_start
        self.leader_end_at_last_fetch = max(leader_end, self.leader_end_at_last_fetch)
        self._last_fetch_ms = now_ms
        self.broker_epoch = broker_epoch

    def is_stale(self, broker_epoch: int) -> bool:
        """Whether a fetch comes from an earlier incarnation of the follower's broker."""
        return UNKNOWN_BROKER_EPOCH != broker_epoch < self.broker_epoch

    def start_epoch(self, leader_end: int, now_ms: int, *, in_isr: bool) -> None:
        """A new epoch of the same leader: the position holds, the time in hand starts again."""
        self.resting = None
        self.leader_end_at_last_fetch = leader_end
        self._last_fetch_ms = now_ms if in_isr else NEVER_MS
        self._last_caught_up_ms = now_ms if in_isr else NEVER_MS

    def trust_until_lagging(self, now_ms: int) -> None:
        """A new leader knows nothing of the members of its ISR: each counts as caught up now."""
        self._last_caught_up_ms = now_ms

    def is_caught_up(self, leader_end: int, now_ms: int, max_lag_ms: int) -> bool:
        return self.log_end == leader_end or now_ms - self.last_caught_up_ms <= max_lag_ms

    def describe(self, now_ms: int) -> str:
        """For an event's reason: "last caught up 2014 ms ago, log end 812"."""
        if self.last_caught_up_ms == NEVER_MS:
            return f"never caught up, log end {self.log_end}"
        return f"last caught up {now_ms - self.last_caught_up_ms} ms ago, log end {self.log_end}"
