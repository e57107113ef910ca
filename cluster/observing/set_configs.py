"""Which of what topics and brokers are set to was set while brokers ran."""

from __future__ import annotations

from logquake.client.admin import ConfigEntry, ConfigSource

_AT_RUN_TIME = (
    ConfigSource.DYNAMIC_TOPIC_CONFIG,
    ConfigSource.DYNAMIC_BROKER_CONFIG,
    ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG,
)


def was_set_at_run_time(entry: ConfigEntry) -> bool:
    return entry.source in _AT_RUN_TIME
