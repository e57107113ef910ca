"""Settings of compaction that concern the broker as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from logquake.storage.cleaner.plan import CleanerBounds

_MAX_BUFFER_BYTES = 2**31 - 1


@dataclass(frozen=True, slots=True)
class CleanerSettings:
    # log.cleaner.enable: without it compacted topics only grow.
    enabled: bool = True
    # log.cleaner.threads: how many logs are cleaned at the same time. They share the buffers.
    threads: int = 1
    # log.cleaner.backoff.ms: the rest of a cleaner that found nothing to do.
    backoff_ms: int = 15_000
    # log.cleaner.io.max.bytes.per.second: of all cleaners, reads and writes together.
    io_max_bytes_per_second: float = inf
    # log.cleaner.dedupe.buffer.size: memory for keys. Too little, and a log's clean part is
    # rewritten several times before its dirty part is used up.
    dedupe_buffer_bytes: int = 134_217_728
    # log.cleaner.io.buffer.size: half of it is read at a time, which makes a slice of work.
    io_buffer_bytes: int = 524_288
    # log.cleaner.io.buffer.load.factor: how full the memory for keys may be.
    load_factor: float = 0.9
    # logquake.log.cleaner.cpu.share: not Kafka's. A cleaner works for this part of the time at
    # most: it shares one interpreter with the loop, which waits while it computes.
    cpu_share: float = 0.5

    @property
    def bounds(self) -> CleanerBounds:
        """Of one cleaner."""
        return CleanerBounds(
            min(self.dedupe_buffer_bytes // self.threads, _MAX_BUFFER_BYTES),
            self.load_factor,
            max(1, self.io_buffer_bytes // self.threads // 2),
        )
