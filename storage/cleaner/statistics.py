"""What one cleaning did, in numbers (Kafka's CleanerStats)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class CleanerStats:
    """Sizes in bytes."""

    bytes_read: int = 0
    bytes_written: int = 0
    records_read: int = 0
    records_written: int = 0
    segments_read: int = 0
    segments_written: int = 0
