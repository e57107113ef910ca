"""The table of a broker's keys: complete, sound, and what server.properties may hold."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from logquake.controller.rules.config_def import ConfigKey, ConfigType, text_of
from logquake.controller.rules.topic_config import TOPIC_KEYS
from logquake.node.configs.broker_keys import (
    BROKER_KEYS,
    DYNAMIC,
    DYNAMIC_ONLY,
    is_of_one_broker,
    is_password,
    key_of,
    synonyms,
)
from logquake.node.settings import BrokerSettings

REQUIRED = {"broker.id": "1", "zookeeper.connect": "127.0.0.1:2181"}
# What a broker in ZooKeeper mode must have otherwise, whatever the default is.
OTHERWISE = {"broker.id", "node.id"}
SAMPLES = {
    ConfigType.BOOLEAN: "true",
    ConfigType.INT: "1",
    ConfigType.LONG: "1",
    ConfigType.SHORT: "1",
    ConfigType.DOUBLE: "1",
}
"""For keys that have no default; texts are x."""
VALUES = {
    "broker.id": "1",
    "advertised.listeners": "PLAINTEXT://127.0.0.1:9092",
    "inter.broker.listener.name": "PLAINTEXT",
    "password.encoder.keyfactory.algorithm": "PBKDF2WithHmacSHA512",
}


def test_there_are_as_many_keys_as_kafka_has() -> None:
    assert len(BROKER_KEYS) == 328 + len(DYNAMIC_ONLY)
    assert (len(DYNAMIC), len(DYNAMIC_ONLY), len(TOPIC_KEYS)) == (89, 3, 36)


@pytest.mark.parametrize("keys", [BROKER_KEYS, TOPIC_KEYS], ids=["broker", "topic"])
def test_every_default_is_of_its_key(keys: Mapping[str, ConfigKey]) -> None:
    for key in keys.values():
        assert key.documentation.endswith("."), key.name
        if key.default is not None:
            assert text_of(key.parse(key.default)) == key.default, key.name


def test_every_key_is_accepted_with_its_default() -> None:
    given = {
        name: key.default
        for name, key in BROKER_KEYS.items()
        if key.default is not None and name not in OTHERWISE and name not in DYNAMIC_ONLY
    }
    settings = BrokerSettings.from_properties({**given, **REQUIRED})
    assert settings.unknown == ()


def test_every_key_alone_is_read_or_told_of_once() -> None:
    for name, key in BROKER_KEYS.items():
        if name in DYNAMIC_ONLY:
            continue
        value = VALUES.get(name, SAMPLES.get(key.type, "x") if key.default is None else key.default)
        told = BrokerSettings.from_properties({**REQUIRED, name: value})
        assert (told.unknown, set(told.without_effect) - {name}) == ((), set()), name
        assert told.without_effect.count(name) <= 1, name


def test_every_topics_key_names_a_broker_key_that_may_change_or_none() -> None:
    named = {key.note for key in TOPIC_KEYS.values()} - {"-"}
    assert named - DYNAMIC == {"log.message.format.version"}


def test_listeners_keys_are_known_by_what_follows_the_prefix() -> None:
    name = "listener.name.clients.ssl.keystore.password"
    assert synonyms(name) == (name, "ssl.keystore.password")
    assert key_of(name) is BROKER_KEYS["ssl.keystore.password"]
    assert is_password(name)
    assert is_of_one_broker(name)
    assert not is_of_one_broker("listener.name.clients.max.connections")
    of_mechanism = "listener.name.clients.plain.sasl.jaas.config"
    assert synonyms(of_mechanism) == (of_mechanism, "sasl.jaas.config")
