"""The options of a write, under the names of Spark's Kafka connector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from logquake.client.producer import ProducerSettings
from logquake.client.settings import ClientSettings
from logquake.pipeline.option_values import by_known_name, choice, number
from logquake.pipeline.options import client_settings
from logquake.wire.records import Codec

_KNOWN = (
    "kafka.bootstrap.servers",
    "kafka.client.id",
    "kafka.request.timeout.ms",
    "kafka.batch.size",
    "kafka.compression.type",
    "kafka.delivery.timeout.ms",
    "topic",
    "checkpointLocation",  # Spark's own; it hands all of a stream's options on
)
BATCH_BYTES = 256 * 1024
DELIVERY_TIMEOUT_MS = 120_000


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """``topic`` goes before a row's own; ``batch_bytes`` of keys and values make a batch."""

    client: ClientSettings
    producer: ProducerSettings
    topic: str | None = None
    batch_bytes: int = BATCH_BYTES


def parse_write_options(options: Mapping[str, str]) -> WriteOptions:
    """Raises OptionError."""
    given = by_known_name(options, _KNOWN)
    codecs = {codec.name.lower(): codec for codec in Codec}
    return WriteOptions(
        client_settings(given),
        ProducerSettings(
            enable_idempotence=True,
            compression_type=choice(given.get("kafka.compression.type", "none"), codecs),
            delivery_timeout_ms=number(given, "kafka.delivery.timeout.ms", DELIVERY_TIMEOUT_MS),
        ),
        topic=given.get("topic"),
        batch_bytes=number(given, "kafka.batch.size", BATCH_BYTES),
    )
