"""How a producer batches and sends, under Kafka's names (ProducerConfig)."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.wire.compression import Codec
from logquake.wire.sentinels import ACKS_ALL


@dataclass(frozen=True, slots=True)
class SendingSettings:
    # acks: 0 is none, 1 the leader's, -1 that of all in sync.
    acks: int = ACKS_ALL
    # retries: of one batch; delivery.timeout.ms ends them long before.
    retries: int = 0x7FFFFFFF
    # max.request.size: of one request, after compression.
    max_request_bytes: int = 1024 * 1024
    # request.timeout.ms: also what a broker is given to wait for its followers.
    request_timeout_ms: int = 30_000
    # retry.backoff.ms: between two questions for a producer id.
    retry_backoff_ms: int = 100
    # max.in.flight.requests.per.connection=1: a partition's next batch waits for the one before, so
    # that without idempotence too its order is that of its records.
    is_one_at_a_time: bool = False
    # transactional.id: what is written counts when its transaction is committed.
    transactional_id: str | None = None


@dataclass(frozen=True, slots=True)
class BatchingSettings:
    # batch.size: of one batch, uncompressed records before compression by estimate. 0 sends each
    # record by itself; more of it costs memory for each partition written to.
    batch_bytes: int = 16_384
    # linger.ms: how long a batch that is not full waits for more.
    linger_ms: int = 0
    # buffer.memory: of all batches together, those on their way included.
    buffer_bytes: int = 32 * 1024 * 1024
    # compression.type, and its .level (KIP-390); None is the codec's own.
    codec: Codec = Codec.NONE
    level: int | None = None
    # delivery.timeout.ms: from the append on, with all retries.
    delivery_timeout_ms: int = 120_000
    # retry.backoff.ms and its .max
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    # partitioner.adaptive.partitioning.enable: brokers that are behind are given fewer records.
    is_adaptive: bool = True
    # partitioner.availability.timeout.ms: a broker that takes nothing for longer is given none that
    # could go elsewhere; 0 is never.
    availability_timeout_ms: int = 0
    # There is a transactional.id: batches say that they are part of a transaction.
    is_transactional: bool = False
