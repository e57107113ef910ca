"""What a broker's settings give to topics that say nothing (KafkaConfig.extractLogConfigMap)."""

from __future__ import annotations

from logquake.controller.rules.config_def import text_of
from logquake.controller.rules.topic_config import TOPIC_KEYS
from logquake.node.configs.layers import Properties, number_of, value_of

_NO_BROKER_KEY = "-"
_MINUTE_MS, _HOUR_MS = 60_000, 3_600_000
_DIFFERENCE = "log.message.timestamp.difference.max.ms"
_NEVER = 2**63 - 1


def topic_settings(originals: Properties) -> dict[str, str]:
    """By the topic's keys. Raises InvalidValue."""
    settings = {}
    for name, key in TOPIC_KEYS.items():
        if key.note != _NO_BROKER_KEY:
            value = value_of(originals, key.note)
            if value is not None:
                settings[name] = text_of(value)
    # Ignored by every inter.broker.protocol.version that is served.
    settings["message.format.version"] = TOPIC_KEYS["message.format.version"].default or ""
    return settings | {name: str(number) for name, number in _computed(originals).items()}


def retention_ms(originals: Properties) -> int:
    """Any negative time means for ever."""
    minutes = number_of(originals, "log.retention.minutes")
    hours = number_of(originals, "log.retention.hours") or 0
    by_units = hours * _HOUR_MS if minutes is None else minutes * _MINUTE_MS
    return max(-1, _first(number_of(originals, "log.retention.ms"), by_units))


def roll_ms(originals: Properties) -> int:
    hours = number_of(originals, "log.roll.hours") or 0
    return _first(number_of(originals, "log.roll.ms"), hours * _HOUR_MS)


def roll_jitter_ms(originals: Properties) -> int:
    hours = number_of(originals, "log.roll.jitter.hours") or 0
    return _first(number_of(originals, "log.roll.jitter.ms"), hours * _HOUR_MS)


def _computed(originals: Properties) -> dict[str, int]:
    """What is not one key's value."""
    scheduler_ms = number_of(originals, "log.flush.scheduler.interval.ms")
    return {
        "segment.ms": roll_ms(originals),
        "segment.jitter.ms": roll_jitter_ms(originals),
        "retention.ms": retention_ms(originals),
        "flush.ms": _first(number_of(originals, "log.flush.interval.ms"), scheduler_ms),
        "message.timestamp.before.max.ms": _off_by(originals, "before"),
        "message.timestamp.after.max.ms": _off_by(originals, "after"),
    }


def _off_by(originals: Properties, direction: str) -> int:
    """The older key of both directions holds where the newer one is as it was."""
    newer = number_of(originals, f"log.message.timestamp.{direction}.max.ms")
    return _first(number_of(originals, _DIFFERENCE) if newer == _NEVER else newer)


def _first(*numbers: int | None) -> int:
    return next((number for number in numbers if number is not None), _NEVER)
