"""The options of a write, under the names of Spark's Kafka connector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from logquake.client.producer import ProducerSettings
from logquake.client.settings import ClientSettings
from logquake.pipeline.option_values import OptionError, by_known_name, choice, number
from logquake.wire.records import Codec

_KNOWN = (
    "kafka.bootstrap.servers",
    "kafka.client.id",
    "kafka.request.timeout.ms",
    "kafka.default.api.timeout.ms",
    "kafka.batch.size",
    "kafka.compression.type",
    "kafka.delivery.timeout.ms",
    "kafka.transaction.timeout.ms",
    "deliveryGuarantee",
    "transactionalIdPrefix",
    "topic",
    "checkpointLocation",  # Spark's own; it hands all of a stream's options on
)
BATCH_BYTES = 256 * 1024
DELIVERY_TIMEOUT_MS = 120_000
# A task that takes longer fails: its transaction is aborted. One that died and is not run again
# keeps readers of committed records waiting for so long. Brokers allow 15 minutes by default.
TRANSACTION_TIMEOUT_MS = 10 * 60_000
_GUARANTEES = {"at-least-once": False, "exactly-once": True}


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """``topic`` goes before a row's own; ``batch_bytes`` of keys and values make a batch.

    ``prefix`` is of transactional ids: what the write is known by when it is run again.
    """

    client: ClientSettings
    producer: ProducerSettings
    topic: str | None = None
    batch_bytes: int = BATCH_BYTES
    is_exactly_once: bool = False
    prefix: str | None = None  # None: of a stream the query's id, of a batch a new one
    transaction_timeout_ms: int = TRANSACTION_TIMEOUT_MS


def parse_write_options(options: Mapping[str, str]) -> WriteOptions:
    """Raises OptionError."""
    given = by_known_name(options, _KNOWN)
    codecs = {codec.name.lower(): codec for codec in Codec}
    is_exactly_once = choice(given.get("deliveryGuarantee", "at-least-once"), _GUARANTEES)
    if "transactionalIdPrefix" in given and not is_exactly_once:
        raise OptionError("transactionalIdPrefix is for deliveryGuarantee exactly-once")
    return WriteOptions(
        client_settings(given),
        ProducerSettings(
            enable_idempotence=True,
            compression_type=choice(given.get("kafka.compression.type", "none"), codecs),
            delivery_timeout_ms=number(given, "kafka.delivery.timeout.ms", DELIVERY_TIMEOUT_MS),
        ),
        topic=given.get("topic"),
        batch_bytes=number(given, "kafka.batch.size", BATCH_BYTES),
        is_exactly_once=is_exactly_once,
        prefix=given.get("transactionalIdPrefix"),
        transaction_timeout_ms=number(
            given, "kafka.transaction.timeout.ms", TRANSACTION_TIMEOUT_MS
        ),
    )


def client_settings(given: Mapping[str, str]) -> ClientSettings:
    servers = given.get("kafka.bootstrap.servers")
    if not servers:
        raise OptionError("kafka.bootstrap.servers is needed")
    settings = ClientSettings(
        servers,
        client_id=given.get("kafka.client.id", "logquake-spark"),
        request_timeout_ms=number(given, "kafka.request.timeout.ms", 30_000),
        api_timeout_ms=number(given, "kafka.default.api.timeout.ms", 60_000),
    )
    try:
        settings.addresses()
    except ValueError as error:
        raise OptionError(f"kafka.bootstrap.servers: {error}") from error
    return settings
