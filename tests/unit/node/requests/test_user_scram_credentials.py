"""DescribeUserScramCredentials and AlterUserScramCredentials, as kafka.server.ZkAdminManager."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.node.authentication.scram import ScramCredential
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.scram import (
    AlterUserScramCredentialsRequest,
    DescribeUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
    UserName,
)
from logquake.wire.principals import KafkaPrincipal
from logquake.wire.sasl.scram_mechanism import ScramMechanism
from logquake.zk.operations import Children, Data, GetChildren, GetData
from logquake.zk.znodes.configs import ConfigChange, EntityConfig
from tests.unit.node.requests.lone_broker import LoneBroker
from tests.unit.node.requests.test_envelope import elect_another

SHA_256, SHA_512 = 1, 2
SALT, SALTED = b"salt", b"salted password"


def upsert(name: str = "alice", mechanism: int = SHA_256, iterations: int = 4096) -> Any:
    return ScramCredentialUpsertion(
        name=name, mechanism=mechanism, iterations=iterations, salt=SALT, salted_password=SALTED
    )


def remove(name: str = "alice", mechanism: int = SHA_256) -> Any:
    return ScramCredentialDeletion(name=name, mechanism=mechanism)


def alter(broker: LoneBroker, *changes: Any, **asking: Any) -> list[tuple[str, int, str | None]]:
    request = AlterUserScramCredentialsRequest(
        upsertions=[each for each in changes if isinstance(each, ScramCredentialUpsertion)],
        deletions=[each for each in changes if isinstance(each, ScramCredentialDeletion)],
    )
    results = broker.ask(request, 0, **asking).results
    return [(each.user, each.error_code, each.error_message) for each in results]


def describe(broker: LoneBroker, *users: str) -> dict[str, Any]:
    asked = [UserName(name=name) for name in users] or None
    answer = broker.ask(DescribeUserScramCredentialsRequest(users=asked), 0)
    assert (answer.error_code, answer.error_message) == (0, "")
    return {
        each.user: (each.error_code, each.error_message)
        if each.error_code
        else {info.mechanism: info.iterations for info in each.credential_infos}
        for each in answer.results
    }


def znode(broker: LoneBroker, path: str) -> bytes:
    (session_id,) = broker.zookeeper.model.sessions
    found, _ = broker.zookeeper.model.apply(session_id, GetData(path))
    assert isinstance(found, Data), found
    return found.data


def test_users_come_change_and_go(broker: LoneBroker) -> None:
    assert describe(broker) == {}
    assert alter(broker, upsert("bob"), upsert(), upsert(mechanism=SHA_512, iterations=8192)) == [
        ("alice", 0, ""),
        ("bob", 0, ""),
    ]
    assert describe(broker) == {"alice": {1: 4096, 2: 8192}, "bob": {1: 4096}}
    assert alter(broker, remove(), upsert("bob", iterations=5000)) == [
        ("alice", 0, ""),
        ("bob", 0, ""),
    ]
    assert describe(broker, "bob", "alice") == {"bob": {1: 5000}, "alice": {2: 8192}}
    alter(broker, remove(mechanism=SHA_512), remove("bob"))
    assert describe(broker) == {}


def test_what_is_kept_and_told(broker: LoneBroker) -> None:
    alter(broker, upsert("ä b"))
    config = EntityConfig.decode(znode(broker, "/config/users/%C3%A4%20b")).config
    credential = ScramCredential.of(ScramMechanism.SCRAM_SHA_256, SALTED, SALT, 4096)
    assert config == {"SCRAM-SHA-256": credential.encode()}
    (session_id,) = broker.zookeeper.model.sessions
    there, _ = broker.zookeeper.model.apply(session_id, GetChildren("/config/changes"))
    assert isinstance(there, Children)
    (notice,) = there.names
    told = ConfigChange.decode(znode(broker, f"/config/changes/{notice}"))
    assert told.entity_path == "users/%C3%A4%20b"


UNACCEPTABLE, UNSUPPORTED = ErrorCode.UNACCEPTABLE_CREDENTIAL, ErrorCode.UNSUPPORTED_SASL_MECHANISM
REFUSED = [
    ([upsert("")], ("", UNACCEPTABLE, "Username must not be empty")),
    ([remove("")], ("", UNACCEPTABLE, "Username must not be empty")),
    ([upsert(mechanism=0)], ("alice", UNSUPPORTED, "Unknown SCRAM mechanism")),
    ([remove(mechanism=9)], ("alice", UNSUPPORTED, "Unknown SCRAM mechanism")),
    ([upsert(iterations=4095)], ("alice", UNACCEPTABLE, "Too few iterations")),
    ([upsert(iterations=16385)], ("alice", UNACCEPTABLE, "Too many iterations")),
    (
        [upsert(), remove()],
        (
            "alice",
            ErrorCode.DUPLICATE_RESOURCE,
            "A user credential cannot be altered twice in the same request",
        ),
    ),
    (
        [upsert(mechanism=SHA_512), remove()],
        (
            "alice",
            ErrorCode.RESOURCE_NOT_FOUND,
            "Attempt to delete a user credential that does not exist",
        ),
    ),
]


@pytest.mark.parametrize(("changes", "refusal"), REFUSED)
def test_one_fault_refuses_all_of_its_user_and_no_other(
    broker: LoneBroker, changes: list[Any], refusal: tuple[Any, ...]
) -> None:
    assert sorted(alter(broker, *changes, upsert("bob"))) == sorted([refusal, ("bob", 0, "")])
    assert describe(broker) == {"bob": {1: 4096}}


def test_who_is_not_there_or_asked_twice(broker: LoneBroker) -> None:
    alter(broker, upsert())
    not_found, twice = ErrorCode.RESOURCE_NOT_FOUND, ErrorCode.DUPLICATE_RESOURCE
    assert describe(broker, "alice", "bob", "", "carol", "carol") == {
        "alice": {1: 4096},
        "bob": (not_found, "Attempt to describe a user credential that does not exist: bob"),
        "": (not_found, "Username must not be empty"),
        "carol": (
            twice,
            "Cannot describe SCRAM credentials for the same user twice in a single request: carol",
        ),
    }


def test_only_the_controller_alters(broker: LoneBroker) -> None:
    elect_another(broker)
    ((user, code, _),) = alter(broker, upsert())
    assert (user, code) == ("alice", ErrorCode.NOT_CONTROLLER)


def test_nothing_that_came_in_is_in_the_journal(broker: LoneBroker) -> None:
    alter(broker, upsert(), upsert("bob", mechanism=7), remove("carol"))
    assert "salted password" not in str(broker.journal.events)


class TestWithAnAuthorizer:
    @pytest.fixture
    def properties(self) -> dict[str, str]:
        return {
            "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
            "super.users": "User:ANONYMOUS",
        }

    def test_strangers_neither_alter_nor_describe(self, broker: LoneBroker) -> None:
        denied = ErrorCode.CLUSTER_AUTHORIZATION_FAILED, None
        stranger = KafkaPrincipal("User", "stranger")
        assert alter(broker, upsert(), principal=stranger) == [("alice", *denied)]
        asked = DescribeUserScramCredentialsRequest(users=None)
        answer = broker.ask(asked, 0, principal=stranger)
        assert (answer.error_code, answer.error_message) == denied
