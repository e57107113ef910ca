"""Settings of the transaction coordinator, with Kafka 3.9's defaults; their keys stand in
node/settings.
"""

from __future__ import annotations

from dataclasses import dataclass

_MINUTE_MS = 60 * 1000
_HOUR_MS = 60 * _MINUTE_MS


@dataclass(frozen=True, slots=True)
class TransactionSettings:
    # The longest time-out that a producer may ask for. Until it is over an abandoned transaction
    # holds up who reads committed records.
    max_timeout_ms: int = 15 * _MINUTE_MS
    # How often transactions whose time is over are looked for, to abort them.
    abort_interval_ms: int = 10 * 1000
    # A transactional id that was not used for so long is forgotten: its producer, if it still
    # lives, is refused, and its epochs begin anew with another producer id.
    id_expiration_ms: int = 7 * 24 * _HOUR_MS
    expiration_interval_ms: int = _HOUR_MS
    # How long the followers may take to copy that an id is forgotten; else it is tried again.
    request_timeout_ms: int = 30 * 1000
    # What is read at a time of a partition's log, when this broker becomes its coordinator.
    load_buffer_bytes: int = 5 * 1024 * 1024
