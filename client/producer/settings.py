"""How a producer batches and sends, under Kafka's names (ProducerConfig)."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.wire.compression import Codec
from logquake.wire.sentinels import ACKS_ALL


@dataclass(frozen=True, slots=True)
class SendingSettings:
    # acks: 0 none, 1 the leader's, -1 those of all in-sync replicas.
    acks: int = ACKS_ALL
    # retries: per batch; delivery.timeout.ms usually ends them long before.
    retries: int = 0x7FFFFFFF
    # max.request.size: the size of a request, after compression.
    max_request_bytes: int = 1024 * 1024
    # request.timeout.ms: also how long a broker may wait for its followers.
    request_timeout_ms: int = 30_000
    # retry.backoff.ms: between two requests for a producer id.
    retry_backoff_ms: int = 100
    # max.in.flight.requests.per.connection=1: a partition's next batch waits for the one before, so
    # that its records stay in order even without idempotence.
    is_one_at_a_time: bool = False
    # transactional.id: records count once their transaction is committed.
    transactional_id: str | None = None


@dataclass(frozen=True, slots=True)
class BatchingSettings:
    # batch.size: the size of a batch, after compression as estimated. 0 sends each record by
    # itself; a larger one takes more memory for each partition written to.
    batch_bytes: int = 16_384
    # linger.ms: how long a batch that is not full waits for more.
    linger_ms: int = 0
    # buffer.memory: for all batches together, including those in flight.
    buffer_bytes: int = 32 * 1024 * 1024
    # compression.type, and its .level (KIP-390); None is the codec's own.
    codec: Codec = Codec.NONE
    level: int | None = None
    # delivery.timeout.ms: from the append on, including all retries.
    delivery_timeout_ms: int = 120_000
    # retry.backoff.ms and its .max
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    # partitioner.adaptive.partitioning.enable: slow brokers get fewer records.
    is_adaptive: bool = True
    # partitioner.availability.timeout.ms: a broker that takes nothing for longer gets no records
    # that could go elsewhere; 0 disables this.
    availability_timeout_ms: int = 0
    # With a transactional.id, batches are marked as part of a transaction.
    is_transactional: bool = False
