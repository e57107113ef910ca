"""The offset.* and offsets.* keys but for those of the topic itself (auto_creation.py)."""

from __future__ import annotations

from logquake.node.coordinators.groups.offsets.settings import OffsetSettings
from logquake.node.settings.errors import SettingsError
from logquake.node.settings.reader import SHORT_MAX, PropertyReader, refusal
from logquake.wire.compression import Codec
from logquake.wire.sentinels import ACKS_ALL

_MINUTE_MS = 60_000
_ACKS = "offsets.commit.required.acks"


def read_offsets(reader: PropertyReader, replication_factor: int) -> OffsetSettings:
    """Of a topic with so many replicas. Raises SettingsError."""
    default = OffsetSettings()
    acks = reader.integer(_ACKS, default.commit_required_acks, minimum=ACKS_ALL, maximum=SHORT_MAX)
    if acks > replication_factor:
        allowed = f"-1 to offsets.topic.replication.factor ({replication_factor})"
        raise SettingsError(refusal(_ACKS, str(acks), allowed))
    return OffsetSettings(
        max_metadata_size=reader.integer("offset.metadata.max.bytes", default.max_metadata_size),
        load_buffer_bytes=reader.integer(
            "offsets.load.buffer.size", default.load_buffer_bytes, minimum=1
        ),
        retention_ms=reader.integer(
            "offsets.retention.minutes", default.retention_ms // _MINUTE_MS, minimum=1
        )
        * _MINUTE_MS,
        retention_check_interval_ms=reader.long(
            "offsets.retention.check.interval.ms", default.retention_check_interval_ms, minimum=1
        ),
        compression=_read_codec(reader),
        commit_timeout_ms=reader.integer(
            "offsets.commit.timeout.ms", default.commit_timeout_ms, minimum=1
        ),
        commit_required_acks=acks,
    )


def _read_codec(reader: PropertyReader) -> Codec:
    """Kafka's key is the number that stands in a batch's attributes."""
    key = "offsets.topic.compression.codec"
    return Codec(reader.integer(key, Codec.NONE, minimum=min(Codec), maximum=max(Codec)))
