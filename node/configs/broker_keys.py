"""The keys of a broker: all of Kafka 3.9's, and which of them may change while it runs.

The note of a key in broker_keys.txt says how it may change:

read-only, internal   not at all; internal keys are shown only where they are set
cluster-wide          for one broker, or for all by default
per-broker            for one broker
per-listener          for one listener of one broker, with the listener's prefix
dynamic-only          as cluster-wide, but not known in server.properties (QuotaConfigs)
"""

from __future__ import annotations

import re

from logquake.controller.rules.config_def import ConfigKey, ConfigType
from logquake.controller.rules.key_table import read_table

BROKER_KEYS = read_table(__package__, "broker_keys.txt")


def _noted(*notes: str) -> frozenset[str]:
    return frozenset(name for name, key in BROKER_KEYS.items() if key.note in notes)


DYNAMIC_ONLY = _noted("dynamic-only")
INTERNAL = _noted("internal")
SECURITY = _noted("per-listener")
PER_BROKER = _noted("per-broker", "per-listener")
DYNAMIC = PER_BROKER | _noted("cluster-wide")
"""DynamicBrokerConfig.AllDynamicConfigs."""
NOT_DYNAMIC = frozenset(BROKER_KEYS) - DYNAMIC - DYNAMIC_ONLY

_CLUSTER_WIDE_OF_LISTENERS = (
    "max.connections",
    "max.connection.creation.rate",
    "num.network.threads",
)
_OF_MECHANISMS = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)
_PASSWORDS = tuple(
    sorted(name for name in DYNAMIC if BROKER_KEYS[name].type is ConfigType.PASSWORD)
)
_LISTENER_KEY = re.compile(r"listener\.name\.[^.]*\.(.*)", re.DOTALL)
# What is set by several keys: the first that is set counts.
_SYNONYMS = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
_FLUSH_MS, _FLUSH_SCHEDULER_MS = "log.flush.interval.ms", "log.flush.scheduler.interval.ms"


def without_listener(name: str) -> str:
    """The key that a listener's own is of; others as they are."""
    found = _LISTENER_KEY.fullmatch(name)
    return found[1] if found else name


def is_of_one_broker(name: str) -> bool:
    """Whether it may not be set for all brokers by default."""
    base = without_listener(name)
    if base != name:
        return base not in _CLUSTER_WIDE_OF_LISTENERS
    return name in PER_BROKER


def is_password(name: str) -> bool:
    """Whether it is encrypted in ZooKeeper."""
    return name.endswith(_PASSWORDS)


def synonyms(name: str, *, of_listeners: bool = True) -> tuple[str, ...]:
    """The keys that set the same, first those that go before (brokerConfigSynonyms).

    ``of_listeners``: a listener's own key is followed by the one that holds for all.
    """
    for same in _SYNONYMS:
        if name in same:
            return same
    if name == _FLUSH_MS:
        return (_FLUSH_MS, _FLUSH_SCHEDULER_MS)
    base = without_listener(name)
    if of_listeners and base != name:
        return (name, next((key for key in _OF_MECHANISMS if base.endswith(key)), base))
    return (name,)


def key_of(name: str) -> ConfigKey | None:
    """What is known of a key, of a listener's own too (KafkaConfig.configType)."""
    return next(
        (BROKER_KEYS[each] for each in (name, *synonyms(name)) if each in BROKER_KEYS), None
    )
