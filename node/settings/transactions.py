"""Keys of the transaction coordinator (TransactionStateManagerConfigs, TransactionLogConfigs)."""

from __future__ import annotations

from logquake.node.coordinators.transactions.settings import TransactionSettings
from logquake.node.settings.reader import PropertyReader


def read_transactions(reader: PropertyReader, request_timeout_ms: int) -> TransactionSettings:
    default = TransactionSettings()
    return TransactionSettings(
        max_timeout_ms=reader.integer(
            "transaction.max.timeout.ms", default.max_timeout_ms, minimum=1
        ),
        abort_interval_ms=reader.integer(
            "transaction.abort.timed.out.transaction.cleanup.interval.ms",
            default.abort_interval_ms,
            minimum=1,
        ),
        id_expiration_ms=reader.integer(
            "transactional.id.expiration.ms", default.id_expiration_ms, minimum=1
        ),
        expiration_interval_ms=reader.integer(
            "transaction.remove.expired.transaction.cleanup.interval.ms",
            default.expiration_interval_ms,
            minimum=1,
        ),
        request_timeout_ms=request_timeout_ms,
        load_buffer_bytes=reader.integer(
            "transaction.state.log.load.buffer.size", default.load_buffer_bytes, minimum=1
        ),
    )
