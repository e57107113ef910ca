"""What the rest of a directory promises of a partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from logquake.wire.records import MAX_DECOMPRESSED_BYTES
from logquake.wire.topic_partition import TopicPartition

Offsets = Mapping[TopicPartition, int]


class DirState(Enum):
    """How the directory was left."""

    CLEAN = "stopped in order"
    UNCLEAN = "not stopped in order"
    LIVE = "in use by a broker"


@dataclass(frozen=True, slots=True)
class Limits:
    """Memory that may be needed."""

    # A larger batch is only told of.
    max_batch_bytes: int = 128 << 20
    # Records that decompress to more than this are not looked at.
    max_decompressed_bytes: int = MAX_DECOMPRESSED_BYTES


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The offsets of every partition, by what they are; empty where a file is missing."""

    recovery_points: Offsets = field(default_factory=dict)
    high_watermarks: Offsets = field(default_factory=dict)
    start_offsets: Offsets = field(default_factory=dict)
    cleaned_to: Offsets = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Expectations:
    """Of one partition; None: nothing is known."""

    state: DirState = DirState.CLEAN
    recovery_point: int | None = None
    high_watermark: int | None = None
    start_offset: int = 0
    cleaned_to: int | None = None
    compacted: bool = False

    @property
    def stable_below(self) -> int | None:
        """The offset up to which a running broker changes nothing; None: nothing changes."""
        return (self.high_watermark or 0) if self.state is DirState.LIVE else None

    @property
    def may_have_active_segment(self) -> bool:
        """Whether the last segment's indexes may still be filled with zeros."""
        return self.state is not DirState.CLEAN

    def is_rebuilt(self, end_offset: int) -> bool:
        """Whether the next start builds what belongs to a segment ending there anew."""
        if self.state is DirState.CLEAN:
            return False
        return end_offset > (self.recovery_point or 0)

    def may_end_at(self, offset: int) -> bool:
        """Whether a crash explains that a log is torn there: nothing was promised beyond."""
        promised = max(self.recovery_point or 0, self.high_watermark or 0)
        return self.state is not DirState.CLEAN and offset >= promised
