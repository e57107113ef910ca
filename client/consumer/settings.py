"""The keys that a consumer's core heeds, under Kafka's names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from logquake.client.isolation import Isolation


class OffsetReset(Enum):
    """auto.offset.reset: where to continue if no offset is known, or the log lacks it."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"  # the program gets an error, and decides


@dataclass(frozen=True, slots=True)
class FetchSettings:
    isolation: Isolation = Isolation.READ_UNCOMMITTED
    # fetch.min.bytes: a broker waits for that much, for at most fetch.max.wait.ms.
    min_bytes: int = 1
    max_wait_ms: int = 500
    # fetch.max.bytes per response, max.partition.fetch.bytes per partition in it; the first
    # partition with records always yields one whole batch, even if that is more.
    max_bytes: int = 50 * 1024 * 1024
    partition_max_bytes: int = 1024 * 1024
    # The size that a response may have besides its records.
    max_response_bytes: int = 32 * 1024 * 1024
    # max.poll.records: how many one poll returns; other fetched records wait for the next.
    max_poll_records: int = 500
    # check.crcs
    check_crcs: bool = True
    # client.rack: read from the replica that is nearest (KIP-392).
    rack: str = ""
    # logquake.max.decompressed.bytes: the size to which a batch may decompress, and so its limit.
    max_decompressed_bytes: int = 128 * 1024 * 1024
    # metadata.max.age.ms: how long to read from a nearer replica before asking the leader again.
    preferred_replica_ms: int = 300_000
    # retry.backoff.ms: how long to back off from a broker whose response was useless.
    retry_backoff_ms: int = 100

    def max_answer_bytes(self, version: int, partitions: int) -> int:
        """The largest response, records included, to such a request for so many partitions."""
        # Before version 3 a request limits its response only per partition.
        asked = self.max_bytes if version >= 3 else partitions * self.partition_max_bytes
        return max(asked, self.max_decompressed_bytes) + self.max_response_bytes


@dataclass(frozen=True, slots=True)
class AskingSettings:
    isolation: Isolation = Isolation.READ_UNCOMMITTED
    # request.timeout.ms: after that long without a response, the request is repeated.
    request_timeout_ms: int = 30_000
    # retry.backoff.ms: between a failure and the next attempt; it doubles for repeated failures,
    # up to retry.backoff.max.ms.
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    # allow.auto.create.topics: brokers may create requested topics, if configured to.
    creates_topics: bool = True
