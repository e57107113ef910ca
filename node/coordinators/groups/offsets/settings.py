"""What bounds committed offsets (Kafka's OffsetConfig), with Kafka's defaults."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.wire.compression import Codec
from logquake.wire.sentinels import ACKS_ALL


@dataclass(frozen=True, slots=True)
class OffsetSettings:
    # Of the text that comes with an offset, in Java's characters. It is kept in memory.
    max_metadata_size: int = 4_096
    # Of an offsets log, read at a time when the broker begins to lead it. A larger batch is read
    # whole.
    load_buffer_bytes: int = 5 * 1024 * 1024
    # How long offsets are kept that nobody uses. Who comes back later begins where
    # auto.offset.reset says.
    retention_ms: int = 7 * 24 * 60 * 60 * 1000
    # How often old ones are looked for.
    retention_check_interval_ms: int = 600_000
    # Of batches of __consumer_offsets.
    compression: Codec = Codec.NONE
    # A commit that is not replicated in this time is answered with an error; it may come to be
    # committed all the same.
    commit_timeout_ms: int = 5_000
    # Fewer than all answer commits that a failover then loses.
    commit_required_acks: int = ACKS_ALL
