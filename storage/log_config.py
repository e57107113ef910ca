"""Settings of one partition's log, with Kafka's defaults.

Their keys stand with those who read them: a topic's in node/topics/overrides.py, those of a broker,
for topics that say nothing, in node/settings/topic_defaults.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from logquake.wire.compression import Codec

NEVER = 2**63 - 1


class TimestampType(Enum):
    """Whose time a record gets, by Kafka's spelling."""

    CREATE_TIME = "CreateTime"
    LOG_APPEND_TIME = "LogAppendTime"


class CompressionType(Enum):
    """The codec of what is stored, by Kafka's spelling."""

    PRODUCER = "producer"  # batches stay as they were sent
    UNCOMPRESSED = "uncompressed"
    GZIP = "gzip"
    SNAPPY = "snappy"
    LZ4 = "lz4"
    ZSTD = "zstd"

    @property
    def codec(self) -> Codec | None:
        """None for the producer's own."""
        if self is CompressionType.PRODUCER:
            return None
        return Codec.NONE if self is CompressionType.UNCOMPRESSED else Codec[self.name]


@dataclass(frozen=True, slots=True)
class LogConfig:
    # Small segments make files and index entries many, large ones make retention coarse and
    # recovery after a crash long.
    segment_bytes: int = 1 << 30
    # Roll when a batch is this much newer than the segment's first.
    segment_ms: int = 604_800_000
    # A segment rolls up to so much earlier, lest many roll at once.
    segment_jitter_ms: int = 0
    # A read scans about this far forward from the nearest index entry.
    index_interval_bytes: int = 4096
    # A full index rolls its segment.
    index_max_bytes: int = 10_485_760
    # The largest batch a client may append; replication is not bound by it.
    max_message_bytes: int = 1_048_588
    # Batches in another codec are recompressed; None stands for "producer".
    compression: Codec | None = None
    # Higher is smaller and slower (KIP-390). They hold for what is recompressed to ``compression``,
    # not for what producers compressed.
    gzip_level: int = -1  # Deflater.DEFAULT_COMPRESSION
    lz4_level: int = 9
    zstd_level: int = 3
    # Fsync inside commit() after so many records; 1 makes every ack power-safe and costs an fsync
    # each. Kafka's default leaves durability to replication.
    flush_messages: int = NEVER
    # Fsync in the background what is older, at the checks that the broker makes
    # every log_flush_scheduler_interval_ms (ReplicationSettings).
    flush_ms: int = NEVER
    message_timestamp_type: TimestampType = TimestampType.CREATE_TIME
    # How far a record's time may be off.
    timestamp_before_max_ms: int = NEVER
    timestamp_after_max_ms: int = NEVER
    # Whether retention_ms and retention_bytes bound what is kept.
    deleted: bool = True
    # A segment goes when its newest record is this old; -1: never for its age.
    retention_ms: int = 604_800_000
    # The oldest segments go while the log stays this large without; -1: no bound.
    retention_bytes: int = -1
    # Files taken out of the log are removed so much later. Whoever still reads from them by name,
    # or looks for the cause of a loss, has that time.
    file_delete_delay_ms: int = 60_000
    # Whether it is compacted: records need keys, and offsets may have gaps.
    compacted: bool = False
    # A log is compacted once more than this part of it is dirty. Lower keeps less of the past, and
    # rewrites what is clean more often.
    min_cleanable_dirty_ratio: float = 0.5
    # So long every record stays, whatever comes after it.
    min_compaction_lag_ms: int = 0
    # After so long a log is compacted however clean it is; its active segment is rolled for it.
    max_compaction_lag_ms: int = NEVER
    # So long a tombstone stays after the first compaction that meets it. A reader that takes longer
    # from the log's start to its end may never see the deletion.
    delete_retention_ms: int = 86_400_000
    # An idle producer is forgotten after it. The broker's word, not the topic's.
    producer_expiration_ms: int = 86_400_000
    # A transaction opens here only where its coordinator knows of it (KIP-890). Without, a batch
    # that comes after its transaction's end opens one that nobody ends, and readers of committed
    # records wait for ever. The broker's word too.
    transactions_verified: bool = True

    @property
    def max_segment_ms(self) -> int:
        """How old a segment may get before it rolls."""
        if self.compacted:
            return min(self.segment_ms, self.max_compaction_lag_ms)
        return self.segment_ms

    def compression_level(self, codec: Codec) -> int | None:
        """The level for a codec; None for one that has none."""
        levels = {
            Codec.GZIP: self.gzip_level,
            Codec.LZ4: self.lz4_level,
            Codec.ZSTD: self.zstd_level,
        }
        return levels.get(codec)
