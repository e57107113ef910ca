"""The broker's keys that topics without settings of their own obey."""

from __future__ import annotations

from logquake.node.replication.settings import TopicConfig
from logquake.node.settings.errors import SettingsError
from logquake.node.settings.reader import LONG_MAX, PropertyReader, refusal
from logquake.storage.log_config import NEVER, CompressionType, LogConfig

_MINUTE_MS = 60_000
_HOUR_MS = 3_600_000
_POLICIES = {"delete", "compact"}


def read_topic_defaults(reader: PropertyReader) -> TopicConfig:
    default = TopicConfig()
    return TopicConfig(
        log=_read_log(reader),
        min_insync_replicas=reader.integer(
            "min.insync.replicas", default.min_insync_replicas, minimum=1
        ),
        unclean_leader_election=reader.flag(
            "unclean.leader.election.enable", default.unclean_leader_election
        ),
        message_downconversion=reader.flag(
            "log.message.downconversion.enable", default.message_downconversion
        ),
    )


def read_flush_scheduler_interval_ms(reader: PropertyReader) -> int:
    return reader.long("log.flush.scheduler.interval.ms", NEVER, minimum=0)


def _read_log(reader: PropertyReader) -> LogConfig:
    default = LogConfig()
    policies = _cleanup_policies(reader)
    return LogConfig(
        segment_bytes=reader.integer("log.segment.bytes", default.segment_bytes, minimum=14),
        segment_ms=reader.duration_ms(
            {"log.roll.ms": 1, "log.roll.hours": _HOUR_MS}, default.segment_ms, minimum=1
        ),
        segment_jitter_ms=reader.duration_ms(
            {"log.roll.jitter.ms": 1, "log.roll.jitter.hours": _HOUR_MS},
            default.segment_jitter_ms,
            minimum=0,
        ),
        index_interval_bytes=reader.integer(
            "log.index.interval.bytes", default.index_interval_bytes, minimum=0
        ),
        index_max_bytes=reader.integer(
            "log.index.size.max.bytes", default.index_max_bytes, minimum=4
        ),
        max_message_bytes=reader.integer("message.max.bytes", default.max_message_bytes, minimum=0),
        compression=reader.choice("compression.type", CompressionType.PRODUCER).codec,
        gzip_level=_gzip_level(reader, default.gzip_level),
        lz4_level=reader.integer("compression.lz4.level", default.lz4_level, minimum=1, maximum=17),
        zstd_level=reader.integer(
            "compression.zstd.level", default.zstd_level, minimum=-131_072, maximum=22
        ),
        flush_messages=reader.long(
            "log.flush.interval.messages", default.flush_messages, minimum=1
        ),
        # Without it the checks' own interval is the age, as in Kafka.
        flush_ms=reader.long(
            "log.flush.interval.ms", read_flush_scheduler_interval_ms(reader), minimum=0
        ),
        message_timestamp_type=reader.choice(
            "log.message.timestamp.type", default.message_timestamp_type
        ),
        timestamp_before_max_ms=reader.long(
            "log.message.timestamp.before.max.ms", default.timestamp_before_max_ms, minimum=0
        ),
        timestamp_after_max_ms=reader.long(
            "log.message.timestamp.after.max.ms", default.timestamp_after_max_ms, minimum=0
        ),
        deleted="delete" in policies,
        retention_ms=_retention_ms(reader, default.retention_ms),
        retention_bytes=reader.long("log.retention.bytes", default.retention_bytes),
        file_delete_delay_ms=reader.long(
            "log.segment.delete.delay.ms", default.file_delete_delay_ms, minimum=0
        ),
        compacted="compact" in policies,
        min_cleanable_dirty_ratio=reader.fraction(
            "log.cleaner.min.cleanable.ratio", default.min_cleanable_dirty_ratio
        ),
        min_compaction_lag_ms=reader.long(
            "log.cleaner.min.compaction.lag.ms", default.min_compaction_lag_ms, minimum=0
        ),
        max_compaction_lag_ms=reader.long(
            "log.cleaner.max.compaction.lag.ms", default.max_compaction_lag_ms, minimum=1
        ),
        delete_retention_ms=reader.long(
            "log.cleaner.delete.retention.ms", default.delete_retention_ms, minimum=0
        ),
        producer_expiration_ms=reader.integer(
            "producer.id.expiration.ms", default.producer_expiration_ms, minimum=1
        ),
        transactions_verified=reader.flag(
            "transaction.partition.verification.enable", default.transactions_verified
        ),
    )


def _gzip_level(reader: PropertyReader, default: int) -> int:
    key = "compression.gzip.level"
    level = reader.integer(key, default, minimum=-1, maximum=9)
    if level == 0:
        raise SettingsError(refusal(key, "0", "-1 or a whole number from 1 to 9"))
    return level


def _retention_ms(reader: PropertyReader, default: int) -> int:
    """Any negative time, in any unit, means for ever; 0 is refused (KafkaConfig)."""
    key = "log.retention.ms"
    units = {key: 1, "log.retention.minutes": _MINUTE_MS, "log.retention.hours": _HOUR_MS}
    retention_ms = reader.duration_ms(units, default, minimum=-LONG_MAX)
    if retention_ms == 0:
        raise SettingsError(refusal(key, "0", "-1 (for ever) or at least 1"))
    return max(retention_ms, -1)


def _cleanup_policies(reader: PropertyReader) -> set[str]:
    key = "log.cleanup.policy"
    policies = reader.names(key, ["delete"])
    if not policies or not _POLICIES.issuperset(policies):
        raise SettingsError(refusal(key, ",".join(policies), "delete or compact or both"))
    return set(policies)
