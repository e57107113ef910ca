"""Users' credentials follow ZooKeeper."""

from __future__ import annotations

import pytest

from logquake.node.authentication.scram import ScramCredential, ScramMechanism
from logquake.zk.operations import Create, Delete, Operation, SetData
from logquake.zk.znodes.configs import ConfigChange, EntityConfig, sanitize, user_entity
from tests.unit.node.requests.lone_broker import LoneBroker

SHA_512 = ScramMechanism.SCRAM_SHA_512
TEXT = "salt=c2FsdA==,stored_key=AAEC,server_key=AwQF,iterations=4096"


@pytest.fixture
def properties() -> dict[str, str]:
    return {
        "listeners": "PLAINTEXT://127.0.0.1:9092,SASL_PLAINTEXT://127.0.0.1:9093",
        "sasl.enabled.mechanisms": "SCRAM-SHA-512",
    }


def do(broker: LoneBroker, *operations: Operation[object]) -> None:
    zookeeper = broker.zookeeper
    (session_id,) = zookeeper.model.sessions
    for operation in operations:
        _, fired = zookeeper.model.apply(session_id, operation)
        zookeeper.deliver(fired)
    broker.settle()


def tell(entity_path: str) -> Create:
    return Create(ConfigChange.path(), ConfigChange(entity_path).encode(), sequential=True)


def known(broker: LoneBroker, user: str) -> ScramCredential | None:
    return broker.broker.credentials.of_user(SHA_512, user)


def config(text: str = TEXT) -> bytes:
    return EntityConfig({SHA_512.value: text}).encode()


@pytest.mark.parametrize("user", ["alice", "a/b c=d", "<default>x"])
def test_a_user_is_known_when_the_change_is_told(broker: LoneBroker, user: str) -> None:
    path = EntityConfig.path(user_entity(user))
    do(broker, Create(path, config()))
    assert known(broker, user) is None
    do(broker, tell(f"users/{sanitize(user)}"))
    assert known(broker, user) == ScramCredential.decode(TEXT)
    do(broker, SetData(path, EntityConfig({}).encode()), tell(f"users/{sanitize(user)}"))
    assert known(broker, user) is None


def test_every_user_is_known_from_the_start(broker: LoneBroker) -> None:
    do(broker, Create("/config/users/alice", config()), tell("topics/orders"))
    broker.parts.scram_users.start()  # type: ignore[union-attr]
    broker.settle()
    assert known(broker, "alice") is not None
    do(broker, Delete("/config/users/alice"))
    broker.parts.scram_users.start()  # type: ignore[union-attr]
    broker.settle()
    assert known(broker, "alice") is None


@pytest.mark.parametrize("data", [b"no JSON: hush", config("salt=hush")])
def test_what_makes_no_sense_is_told_and_not_shown(broker: LoneBroker, data: bytes) -> None:
    do(broker, Create("/config/users/alice", data), tell("users/alice"))
    assert known(broker, "alice") is None
    event = broker.journal.events[-1]
    assert (event.what, event.subject) == ("user-config-ignored", "alice")
    assert "hush" not in (event.why or "")


@pytest.mark.parametrize("told", [b"nonsense", b'{"version":2,"entity_path":"users/a/clients/c"}'])
def test_other_notifications_change_nothing(broker: LoneBroker, told: bytes) -> None:
    do(broker, Create(ConfigChange.path(), told, sequential=True))
    do(broker, Create("/config/users/alice", config()), tell("users/alice"))
    assert known(broker, "alice") is not None
