"""A topic's overrides, as ZooKeeper keeps them, laid over the broker's defaults.

The controller checked keys and values when the topic was made. A value that was put into
ZooKeeper by other means and can't be read is passed over: the default holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from logquake.node.replication.settings import TopicConfig
from logquake.node.replication.throttling import ThrottledReplicas
from logquake.storage.log_config import CompressionType, LogConfig, TimestampType
from logquake.wire.compression import Codec


def _flag(text: str) -> bool:
    return text.strip().lower() == "true"


def _codec(text: str) -> Codec | None:
    return CompressionType(text).codec


Parse = Callable[[str], Any]


def _names(policy: str) -> Parse:
    return lambda text: policy in (name.strip() for name in text.split(","))


# The key of each field, and how its value is read.
_LOG_FIELDS: dict[str, tuple[str, Parse]] = {
    "segment_bytes": ("segment.bytes", int),
    "segment_ms": ("segment.ms", int),
    "segment_jitter_ms": ("segment.jitter.ms", int),
    "index_interval_bytes": ("index.interval.bytes", int),
    "index_max_bytes": ("segment.index.bytes", int),
    "max_message_bytes": ("max.message.bytes", int),
    "compression": ("compression.type", _codec),
    "gzip_level": ("compression.gzip.level", int),
    "lz4_level": ("compression.lz4.level", int),
    "zstd_level": ("compression.zstd.level", int),
    "flush_messages": ("flush.messages", int),
    "flush_ms": ("flush.ms", int),
    "message_timestamp_type": ("message.timestamp.type", TimestampType),
    "timestamp_before_max_ms": ("message.timestamp.before.max.ms", int),
    "timestamp_after_max_ms": ("message.timestamp.after.max.ms", int),
    "compacted": ("cleanup.policy", _names("compact")),
    "deleted": ("cleanup.policy", _names("delete")),
    "retention_ms": ("retention.ms", int),
    "retention_bytes": ("retention.bytes", int),
    "file_delete_delay_ms": ("file.delete.delay.ms", int),
    "min_cleanable_dirty_ratio": ("min.cleanable.dirty.ratio", float),
    "min_compaction_lag_ms": ("min.compaction.lag.ms", int),
    "max_compaction_lag_ms": ("max.compaction.lag.ms", int),
    "delete_retention_ms": ("delete.retention.ms", int),
}

_TOPIC_FIELDS: dict[str, tuple[str, Parse]] = {
    "min_insync_replicas": ("min.insync.replicas", int),
    "unclean_leader_election": ("unclean.leader.election.enable", _flag),
    "message_downconversion": ("message.downconversion.enable", _flag),
    "throttled_leaders": ("leader.replication.throttled.replicas", ThrottledReplicas.parse),
    "throttled_followers": ("follower.replication.throttled.replicas", ThrottledReplicas.parse),
}


def topic_config(defaults: TopicConfig, overrides: Mapping[str, str]) -> TopicConfig:
    log: LogConfig = replace(defaults.log, **_parsed(_LOG_FIELDS, overrides))
    return replace(defaults, log=log, **_parsed(_TOPIC_FIELDS, overrides))


def _parsed(
    fields: Mapping[str, tuple[str, Parse]], overrides: Mapping[str, str]
) -> dict[str, Any]:
    values = {}
    for name, (key, parse) in fields.items():
        if key in overrides:
            try:
                values[name] = parse(overrides[key])
            except ValueError:
                continue
    return values
