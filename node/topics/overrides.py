"""A topic's overrides, as ZooKeeper keeps them, laid over the broker's defaults.

The controller checked keys and values when the topic was made. A value that was put into
ZooKeeper by other means and can't be read is passed over: the default holds.
Keys that concern what is not built yet (retention, throttling) have no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from logquake.node.replication.settings import TopicConfig
from logquake.storage.log_config import CompressionType, LogConfig, TimestampType
from logquake.wire.compression import Codec


def _flag(text: str) -> bool:
    return text.strip().lower() == "true"


def _is_compacted(text: str) -> bool:
    return "compact" in (policy.strip() for policy in text.split(","))


def _codec(text: str) -> Codec | None:
    return CompressionType(text).codec


Parse = Callable[[str], Any]

_LOG_FIELDS: dict[str, tuple[str, Parse]] = {
    "segment.bytes": ("segment_bytes", int),
    "segment.ms": ("segment_ms", int),
    "index.interval.bytes": ("index_interval_bytes", int),
    "segment.index.bytes": ("index_max_bytes", int),
    "max.message.bytes": ("max_message_bytes", int),
    "compression.type": ("compression", _codec),
    "compression.gzip.level": ("gzip_level", int),
    "compression.lz4.level": ("lz4_level", int),
    "compression.zstd.level": ("zstd_level", int),
    "flush.messages": ("flush_messages", int),
    "flush.ms": ("flush_ms", int),
    "message.timestamp.type": ("message_timestamp_type", TimestampType),
    "message.timestamp.before.max.ms": ("timestamp_before_max_ms", int),
    "message.timestamp.after.max.ms": ("timestamp_after_max_ms", int),
    "cleanup.policy": ("compacted", _is_compacted),
    "min.cleanable.dirty.ratio": ("min_cleanable_dirty_ratio", float),
    "min.compaction.lag.ms": ("min_compaction_lag_ms", int),
    "max.compaction.lag.ms": ("max_compaction_lag_ms", int),
    "delete.retention.ms": ("delete_retention_ms", int),
}

_TOPIC_FIELDS: dict[str, tuple[str, Parse]] = {
    "min.insync.replicas": ("min_insync_replicas", int),
    "unclean.leader.election.enable": ("unclean_leader_election", _flag),
    "message.downconversion.enable": ("message_downconversion", _flag),
}


def topic_config(defaults: TopicConfig, overrides: Mapping[str, str]) -> TopicConfig:
    log: LogConfig = replace(defaults.log, **_parsed(_LOG_FIELDS, overrides))
    return replace(defaults, log=log, **_parsed(_TOPIC_FIELDS, overrides))


def _parsed(
    fields: Mapping[str, tuple[str, Parse]], overrides: Mapping[str, str]
) -> dict[str, Any]:
    values = {}
    for key, (name, parse) in fields.items():
        if key in overrides:
            try:
                values[name] = parse(overrides[key])
            except ValueError:
                continue
    return values
