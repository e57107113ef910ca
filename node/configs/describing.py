"""What DescribeConfigs tells of a broker and of a topic (ConfigHelper).

Entries come in the order of the map that Kafka keeps them in. Documentation is in our own words.
Kafka takes the values of keys that it does not know for secrets; ours (logquake.*) are none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import IntEnum

from logquake.controller.rules.config_def import ConfigKey, ConfigType, text_of
from logquake.controller.rules.topic_config import TOPIC_KEYS
from logquake.node.configs.broker_keys import (
    BROKER_KEYS,
    DYNAMIC,
    DYNAMIC_ONLY,
    INTERNAL,
    key_of,
    synonyms,
)
from logquake.node.configs.layers import DEFAULTS, Layers, Properties
from logquake.wire.messages.configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsSynonym,
)
from logquake.zk.znodes.map_order import scala_order

OWN_PREFIX = "logquake."
_UNKNOWN_TYPE = 0

Entries = list[DescribeConfigsResourceResult]


class ConfigSource(IntEnum):
    """DescribeConfigsResponse.ConfigSource."""

    UNKNOWN = 0
    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6


def describe_broker(layers: Layers, applied: Properties, wanted: Collection[str]) -> Entries:
    """All that this broker obeys, or the keys ``wanted`` of it."""
    shown = frozenset(BROKER_KEYS) - INTERNAL - DYNAMIC_ONLY
    names = _chosen(shown | applied.keys(), wanted)
    return [_broker_entry(name, _broker_value(name, applied), layers) for name in names]


def describe_defaults(layers: Layers, wanted: Collection[str]) -> Entries:
    """What was set for all brokers."""
    only_default = (ConfigSource.DYNAMIC_DEFAULT_BROKER,)
    return [
        _broker_entry(name, layers.of_all[name], layers, only_default)
        for name in _chosen(layers.of_all, wanted)
    ]


def describe_topic(
    overrides: Properties, defaults: Properties, layers: Layers, wanted: Collection[str]
) -> Entries:
    """``defaults`` are the broker's, by the topic's keys. Raises InvalidValue."""
    settings = {**defaults, **overrides}
    names = _chosen(TOPIC_KEYS.keys() | settings.keys(), wanted)
    return [_topic_entry(name, _topic_value(name, settings), overrides, layers) for name in names]


def _chosen(names: Collection[str], wanted: Collection[str]) -> list[str]:
    return scala_order(name for name in names if not wanted or name in wanted)


def _broker_value(name: str, applied: Properties) -> str | None:
    key = BROKER_KEYS.get(name)
    text = applied.get(name, key.default if key else None)
    if key is None or text is None or name in INTERNAL | DYNAMIC_ONLY:
        return text
    return text_of(key.parse(text))


def _topic_value(name: str, settings: Properties) -> str | None:
    key = TOPIC_KEYS.get(name)
    if key is None:
        return settings[name]
    text = settings.get(name, key.default)
    return None if text is None else text_of(key.parse(text))


def _broker_entry(
    name: str,
    value: str | None,
    layers: Layers,
    sources: Collection[ConfigSource] = tuple(ConfigSource),
) -> DescribeConfigsResourceResult:
    key = key_of(name)
    is_secret = _is_secret(name, key)
    found = [
        each
        for each in _synonyms(name, synonyms(name), layers, is_secret=is_secret)
        if each.source in sources
    ]
    return _entry(name, key, value, found, is_secret=is_secret, read_only=name not in DYNAMIC)


def _topic_entry(
    name: str, value: str | None, overrides: Properties, layers: Layers
) -> DescribeConfigsResourceResult:
    key = TOPIC_KEYS.get(name)
    is_secret = _is_secret(name, key)
    found = []
    if name in overrides:
        told = None if is_secret else value
        found.append(DescribeConfigsSynonym(name=name, value=told, source=ConfigSource.TOPIC))
    if key is not None and key.note in BROKER_KEYS:
        found += _synonyms(key.note, synonyms(key.note), layers, is_secret=is_secret)
    return _entry(name, key, value, found, is_secret=is_secret, read_only=False)


def _entry(
    name: str,
    key: ConfigKey | None,
    value: str | None,
    found: list[DescribeConfigsSynonym],
    *,
    is_secret: bool,
    read_only: bool,
) -> DescribeConfigsResourceResult:
    return DescribeConfigsResourceResult(
        name=name,
        value=None if is_secret else value,
        read_only=read_only,
        config_source=found[0].source if found else ConfigSource.DEFAULT,
        is_sensitive=is_secret,
        synonyms=found,
        config_type=key.type if key else _UNKNOWN_TYPE,
        documentation=key.documentation if key else None,
    )


def _is_secret(name: str, key: ConfigKey | None) -> bool:
    if key is None:
        return not name.startswith(OWN_PREFIX)
    return key.type is ConfigType.PASSWORD


def _synonyms(
    name: str, names: Collection[str], layers: Layers, *, is_secret: bool
) -> list[DescribeConfigsSynonym]:
    """Where the key is set, first what counts. Those before the key itself are left out:
    they are other listeners' and other units'.
    """
    found = [
        DescribeConfigsSynonym(name=each, value=None if is_secret else text, source=source)
        for each, text, source in _set_in(layers, names)
    ]
    own = [index for index, each in enumerate(found) if each.name == name]
    return found[own[0] :] if own else []


def _set_in(layers: Layers, names: Collection[str]) -> Iterator[tuple[str, str, ConfigSource]]:
    for layer, source in (
        (layers.own, ConfigSource.DYNAMIC_BROKER),
        (layers.of_all, ConfigSource.DYNAMIC_DEFAULT_BROKER),
        (layers.static, ConfigSource.STATIC_BROKER),
        (DEFAULTS, ConfigSource.DEFAULT),
    ):
        for name in names:
            if name in layer:
                yield name, layer[name], source
