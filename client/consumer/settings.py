"""The keys that a consumer's core heeds, under Kafka's names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from logquake.client.isolation import Isolation


class OffsetReset(Enum):
    """auto.offset.reset: where to go on when no offset is known, or the log does not hold it."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"  # the program is told, and decides


@dataclass(frozen=True, slots=True)
class FetchSettings:
    isolation: Isolation = Isolation.READ_UNCOMMITTED
    # fetch.min.bytes: a broker waits for so much, for fetch.max.wait.ms at most.
    min_bytes: int = 1
    max_wait_ms: int = 500
    # fetch.max.bytes of an answer, max.partition.fetch.bytes of a partition in it; of the first
    # partition that has records one whole batch comes even if that is more.
    max_bytes: int = 50 * 1024 * 1024
    partition_max_bytes: int = 1024 * 1024
    # What an answer may weigh besides its records.
    max_response_bytes: int = 32 * 1024 * 1024
    # max.poll.records: how many one poll hands out; what was fetched and not handed out waits.
    max_poll_records: int = 500
    # check.crcs
    check_crcs: bool = True
    # client.rack: read from the replica that is nearest (KIP-392).
    rack: str = ""
    # logquake.max.decompressed.bytes: what one batch may decompress to, and so what one may weigh.
    max_decompressed_bytes: int = 128 * 1024 * 1024
    # metadata.max.age.ms: for how long a nearer replica is read from before the leader is asked.
    preferred_replica_ms: int = 300_000
    # retry.backoff.ms: for how long a broker is left alone whose answer is of no use.
    retry_backoff_ms: int = 100

    def max_answer_bytes(self, version: int, partitions: int) -> int:
        """With its records; of a request of that version for so many partitions."""
        # Before version 3 no request bounds its answer but partition by partition.
        asked = self.max_bytes if version >= 3 else partitions * self.partition_max_bytes
        return max(asked, self.max_decompressed_bytes) + self.max_response_bytes


@dataclass(frozen=True, slots=True)
class AskingSettings:
    isolation: Isolation = Isolation.READ_UNCOMMITTED
    # request.timeout.ms: after so long without an answer it is asked again.
    request_timeout_ms: int = 30_000
    # retry.backoff.ms: between a failure and the next attempt; where there may be many it doubles
    # up to retry.backoff.max.ms.
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    # allow.auto.create.topics: brokers may create what is asked about, if they do such a thing.
    creates_topics: bool = True
