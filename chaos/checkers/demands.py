"""What a run must have shown, and how long things may take: whoever makes a run says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Demands:
    # Sends with these acks are promised to stay. A run with "1" among them is judged by a promise
    # that Kafka does not make.
    acks_that_promise: tuple[str, ...] = ("all",)
    # Less than this was acked while a fault stood, elected, or cut: the run shows nothing.
    acked_under_fault: int = 100
    elections: int = 1
    truncations: int = 0
    # How long after the last fault has ended sends may still fail.
    recovery_us: int = 30_000_000
