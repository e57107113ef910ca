"""The configuration keys of a topic: which exist and which values they take.

Keys and wording are Kafka's (LogConfig's ConfigDef). Values are text, as they are in requests and
znodes. The note of a key in topic_keys.txt is the broker's key that topics obey which do not set
it, or ``-``.

Tiered storage (remote.*) is not there: it may only be set to off.
"""

from __future__ import annotations

from collections.abc import Mapping

from logquake.controller.rules.config_def import InvalidConfig, InvalidValue, Value
from logquake.controller.rules.key_table import read_table

TOPIC_KEYS = read_table(__package__, "topic_keys.txt")

_MIN_LAG, _MAX_LAG = "min.compaction.lag.ms", "max.compaction.lag.ms"
_NEVER = 2**63 - 1


def check_new_topic(config: Mapping[str, str | None]) -> None:
    """Raises InvalidConfig."""
    nulls = [name for name, value in config.items() if value is None]
    if nulls:
        raise InvalidConfig(f"Null value not supported for topic configs: {','.join(nulls)}")
    check_topic_config({name: value for name, value in config.items() if value is not None})


def check_topic_config(
    config: Mapping[str, str], defaults: Mapping[str, str] | None = None
) -> None:
    """LogConfig.validate, over what the broker gives to topics that say nothing.

    Raises InvalidConfig.
    """
    for name in config:
        if name not in TOPIC_KEYS:
            raise InvalidConfig(f"Unknown topic config name: {name}")
    settings = {**(defaults or {}), **config}
    values = {
        name: key.parse(settings[name]) for name, key in TOPIC_KEYS.items() if name in settings
    }
    _check_compaction_lags(values)
    _check_tiered_storage(values)


def _check_compaction_lags(values: Mapping[str, Value]) -> None:
    least, most = values.get(_MIN_LAG, 0), values.get(_MAX_LAG, _NEVER)
    if isinstance(least, int) and isinstance(most, int) and least > most:
        raise InvalidConfig(
            f"conflict topic config setting {_MIN_LAG} ({least}) > {_MAX_LAG} ({most})"
        )


def _check_tiered_storage(values: Mapping[str, Value]) -> None:
    if values.get("remote.log.delete.on.disable") or values.get("remote.log.copy.disable"):
        raise InvalidConfig(
            "It is invalid to set `remote.log.delete.on.disable` or "
            "`remote.log.copy.disable` under Zookeeper's mode."
        )
    if values.get("remote.storage.enable"):
        raise InvalidValue(
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage."
        )
