"""The configuration of a member of a group (GroupRebalanceConfig), under Kafka's names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GroupSettings:
    group_id: str
    # group.instance.id: makes a static member, which gets its partitions again if it returns in
    # time, and does not leave when it closes (KIP-345).
    instance_id: str | None = None
    # session.timeout.ms: a member that is silent for longer is removed.
    session_timeout_ms: int = 45_000
    # heartbeat.interval.ms: below a third of it, so that some may be lost.
    heartbeat_interval_ms: int = 3_000
    # max.poll.interval.ms: a member leaves if its program does not poll for that long; a
    # rebalance waits for members for as long.
    max_poll_interval_ms: int = 300_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    request_timeout_ms: int = 30_000
    # auto.commit.interval.ms if enable.auto.commit is true; None: the program commits.
    auto_commit_interval_ms: int | None = 5_000
    # client.rack, for rack-aware assignors (KIP-881); None or empty for none.
    rack: str | None = None
