"""Where a broker's settings come from, and what goes before what.

What is set for this broker goes before what is set for all, that before server.properties, that
before Kafka's defaults (DynamicBrokerConfig).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from logquake.controller.rules.config_def import ConfigType, Value
from logquake.node.configs.broker_keys import BROKER_KEYS, synonyms

Properties = Mapping[str, str]

_MAY_BE_EMPTY = (ConfigType.STRING, ConfigType.LIST, ConfigType.CLASS, ConfigType.PASSWORD)

DEFAULTS: Properties = {
    name: key.default
    for name, key in BROKER_KEYS.items()
    if key.default is not None and key.note != "dynamic-only"
}


@dataclass(frozen=True, slots=True)
class Layers:
    """Everything as text. ``static`` is server.properties."""

    static: Properties
    of_all: Properties = field(default_factory=dict)
    own: Properties = field(default_factory=dict)

    @classmethod
    def starting(cls, properties: Properties) -> Layers:
        """Keys of two names are set by either (KafkaConfig.populateSynonyms)."""
        names = {"broker.id": "node.id", "node.id": "broker.id"}
        also = {
            other: properties[name]
            for name, other in names.items()
            if name in properties and other not in properties
        }
        return cls(
            {name: text for name, text in {**properties, **also}.items() if _is_set(name, text)}
        )

    def with_own(self, own: Properties) -> Layers:
        return replace(self, own=own)

    def with_default(self, of_all: Properties) -> Layers:
        return replace(self, of_all=of_all)

    def originals(self) -> dict[str, str]:
        """What is set, the layers laid over each other."""
        merged = dict(self.static)
        for layer in (self.of_all, self.own):
            _lay_over(merged, layer)
        return merged


def _is_set(name: str, text: str) -> bool:
    """A number that is set to nothing is not set, as node/settings reads it."""
    key = BROKER_KEYS.get(name)
    return bool(text.strip()) or key is None or key.type in _MAY_BE_EMPTY


def _lay_over(merged: dict[str, str], layer: Properties) -> None:
    """A key set in this layer counts even where one below would go before it by its name."""
    for name, value in layer.items():
        for same in synonyms(name, of_listeners=False):
            merged.pop(same, None)
        merged[name] = value


def value_of(originals: Properties, name: str) -> Value | None:
    """Of a key of Kafka's: what is set, else the default. Raises InvalidValue."""
    text = originals.get(name, BROKER_KEYS[name].default)
    return None if text is None else BROKER_KEYS[name].parse(text)


def number_of(originals: Properties, name: str) -> int | None:
    """The same of a key of whole numbers."""
    value = value_of(originals, name)
    if value is None or isinstance(value, int):
        return value
    raise TypeError(f"{name} is no whole number: {value!r}")
