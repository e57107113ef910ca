"""The order of sequences: after 2^31 - 1 comes 0 (DefaultRecordBatch.incrementSequence)."""

from __future__ import annotations

_MAX_SEQUENCE = 0x7FFFFFFF
_HALF = 1 << 30


def sequence_after(sequence: int, count: int) -> int:
    """``count`` may be below 0."""
    return (sequence + count) & _MAX_SEQUENCE


def is_before(sequence: int, other: int) -> bool:
    """Both must be less than 2^30 apart, as all sequences in use at a time are.

    Kafka compares them as numbers, so its producers fail at the wrap-around.
    """
    return 0 < (other - sequence) & _MAX_SEQUENCE < _HALF
