"""Passwords that are set at run time lie encrypted in ZooKeeper, as DynamicBrokerConfig has it."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import pytest

from logquake.node.configs.password_encoder import PasswordEncoder, PasswordEncoderSettings
from logquake.wire.errors import ErrorCode
from logquake.zk.operations import Create
from logquake.zk.znodes.configs import EntityConfig
from logquake.zk.znodes.parents import create_parents
from tests.compat.config_cases import ALL_BROKERS, OF_BROKER
from tests.unit.node.requests.lone_broker import LoneBroker
from tests.unit.node.requests.test_configs import OWN, alter, changed, data_of, describe, write

KEY = "listener.name.plaintext.ssl.keystore.password"
PASSWORD = "hush, key store"


def encoder(secret: str) -> PasswordEncoder:
    return PasswordEncoder(secret, PasswordEncoderSettings(secret), Random(1).randbytes)


def set_to(broker: LoneBroker, name: str = OWN) -> ErrorCode:
    return alter(broker, OF_BROKER, name, **{KEY.replace(".", "_"): PASSWORD})


def in_zookeeper(broker: LoneBroker) -> Mapping[str, str]:
    return EntityConfig.decode(data_of(broker, f"/config/brokers/{OWN}")).config


def own(broker: LoneBroker) -> Mapping[str, str]:
    return broker.broker.config.layers.own


def test_without_a_secret_no_password_is_taken(broker: LoneBroker) -> None:
    assert set_to(broker) == ErrorCode.INVALID_CONFIG
    assert own(broker) == {}


class TestWithASecret:
    @pytest.fixture
    def properties(self) -> dict[str, str]:
        return {"password.encoder.secret": "new", "password.encoder.old.secret": "old"}

    def test_one_is_written_encrypted_and_counts(self, broker: LoneBroker) -> None:
        assert set_to(broker) == ErrorCode.NONE
        assert encoder("new").decode(in_zookeeper(broker)[KEY]) == PASSWORD
        assert own(broker)[KEY] == PASSWORD
        entry = describe(broker, OF_BROKER, OWN, KEY)[KEY]
        assert (entry.value, entry.is_sensitive) == (None, True)
        assert PASSWORD not in str(broker.journal.events)

    def test_what_is_changed_beside_it_leaves_it_as_it_is(self, broker: LoneBroker) -> None:
        set_to(broker)
        assert alter(broker, OF_BROKER, OWN, message_max_bytes="5000") == ErrorCode.NONE
        assert encoder("new").decode(in_zookeeper(broker)[KEY]) == PASSWORD
        assert own(broker) == {KEY: PASSWORD, "message.max.bytes": "5000"}

    def test_none_is_for_all_brokers(self, broker: LoneBroker) -> None:
        assert set_to(broker, ALL_BROKERS) != ErrorCode.NONE

    def test_one_that_cannot_be_read_is_passed_over(self, broker: LoneBroker) -> None:
        set_to(broker)
        odd = {KEY: encoder("another").encode(PASSWORD), "message.max.bytes": "5000"}
        write(broker, *changed(f"brokers/{OWN}", odd))
        assert own(broker) == {"message.max.bytes": "5000"}
        (ignored,) = broker.journal.of("broker-config-ignored")
        assert ignored.subject == KEY

    def test_one_of_the_old_secret_is_encrypted_with_the_new_one_at_the_start(
        self, stopped_broker: LoneBroker
    ) -> None:
        config = EntityConfig({KEY: encoder("old").encode(PASSWORD), "message.max.bytes": "5000"})
        write(
            stopped_broker,
            *create_parents(),
            Create(f"/config/brokers/{OWN}", config.encode()),
        )
        stopped_broker.start()
        assert own(stopped_broker) == {KEY: PASSWORD, "message.max.bytes": "5000"}
        assert encoder("new").decode(in_zookeeper(stopped_broker)[KEY]) == PASSWORD
        stopped_broker.broker.close()
