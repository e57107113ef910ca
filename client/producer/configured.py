"""The settings of a producer's parts, taken from its configuration."""

from __future__ import annotations

from logquake.client.producer.idempotence.idempotence import Idempotence
from logquake.client.producer.numbering import Unnumbered
from logquake.client.producer.settings import BatchingSettings, SendingSettings
from logquake.client.producer.transactions.transactions import Transactions
from logquake.client.settings.producer import ProducerConfig
from logquake.wire.compression import Codec


def batching(config: ProducerConfig) -> BatchingSettings:
    return BatchingSettings(
        batch_bytes=config.batch_size,
        linger_ms=config.linger_ms,
        buffer_bytes=config.buffer_memory,
        codec=config.compression_type,
        level=_level(config),
        delivery_timeout_ms=config.delivery_timeout_ms,
        retry_backoff_ms=config.retry_backoff_ms,
        retry_backoff_max_ms=config.retry_backoff_max_ms,
        is_adaptive=config.partitioner_adaptive_partitioning_enable,
        availability_timeout_ms=config.partitioner_availability_timeout_ms,
        is_transactional=config.transactional_id is not None,
    )


def sending(config: ProducerConfig) -> SendingSettings:
    return SendingSettings(
        acks=config.acks,
        retries=config.retries,
        max_request_bytes=config.max_request_size,
        request_timeout_ms=config.request_timeout_ms,
        retry_backoff_ms=config.retry_backoff_ms,
        is_one_at_a_time=config.max_in_flight_requests_per_connection == 1,
        transactional_id=config.transactional_id,
    )


def numbering(config: ProducerConfig) -> Unnumbered | Idempotence | Transactions:
    if config.transactional_id is not None:
        return Transactions(config.transactional_id, config.transaction_timeout_ms)
    return Idempotence() if config.enable_idempotence else Unnumbered()


def _level(config: ProducerConfig) -> int | None:
    """None for a codec without levels."""
    return {
        Codec.GZIP: config.compression_gzip_level,
        Codec.LZ4: config.compression_lz4_level,
        Codec.ZSTD: config.compression_zstd_level,
    }.get(config.compression_type)
