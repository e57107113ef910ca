"""Delegation tokens through the broker's door (kafka.server.DelegationTokenManagerZk)."""

from __future__ import annotations

import hmac
from base64 import b64encode
from typing import Any

import pytest

from logquake.wire.errors import ErrorCode
from logquake.wire.listeners import ListenerName
from logquake.wire.messages.delegation_tokens import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from logquake.wire.principals import KafkaPrincipal
from logquake.wire.sasl.scram_mechanism import ScramMechanism
from logquake.zk.operations import Data, Failed, GetData
from logquake.zk.znodes.delegation_tokens import TokenInformation
from tests.unit.node.requests.lone_broker import LoneBroker

ALICE, BOB, CAROL = (KafkaPrincipal("User", name) for name in ("alice", "bob", "carol"))
SASL = ListenerName("SASL")
DAY_MS = 24 * 3_600_000
SECRET = "the brokers' own"
WITH_SASL = {
    "listeners": "PLAINTEXT://127.0.0.1:9092,SASL://127.0.0.1:19092",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256",
    "listener.name.sasl.scram-sha-256.sasl.jaas.config": (
        "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    ),
}


@pytest.fixture
def properties() -> dict[str, str]:
    return {
        **WITH_SASL,
        "delegation.token.secret.key": SECRET,
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:ANONYMOUS",
    }


def ask(broker: LoneBroker, who: KafkaPrincipal, message: Any, version: int = 2) -> Any:
    return broker.ask(message, version, principal=who, listener=SASL)


def create(broker: LoneBroker, who: KafkaPrincipal = ALICE, **fields: Any) -> Any:
    renewers = [CreatableRenewers(principal_type="User", principal_name="bob")]
    wanted = {"max_lifetime_ms": -1, "renewers": renewers, **fields}
    return ask(broker, who, CreateDelegationTokenRequest(**wanted), 3)


def renew(broker: LoneBroker, who: KafkaPrincipal, secret: bytes, period_ms: int = -1) -> Any:
    answer = ask(broker, who, RenewDelegationTokenRequest(hmac=secret, renew_period_ms=period_ms))
    return answer.error_code, answer.expiry_timestamp_ms


def expire(broker: LoneBroker, who: KafkaPrincipal, secret: bytes, period_ms: int = -1) -> Any:
    request = ExpireDelegationTokenRequest(hmac=secret, expiry_time_period_ms=period_ms)
    answer = ask(broker, who, request)
    return answer.error_code, answer.expiry_timestamp_ms


def described(broker: LoneBroker, who: KafkaPrincipal, *owners: KafkaPrincipal) -> list[str]:
    asked = [
        DescribeDelegationTokenOwner(principal_type=each.type, principal_name=each.name)
        for each in owners
    ]
    answer = ask(broker, who, DescribeDelegationTokenRequest(owners=asked or None), 3)
    assert answer.error_code == 0
    return [each.principal_name for each in answer.tokens]


def test_a_token_is_good_for_scram(broker: LoneBroker) -> None:
    made = create(broker)
    assert made.error_code == 0
    assert made.expiry_timestamp_ms - made.issue_timestamp_ms == DAY_MS
    assert made.max_timestamp_ms - made.issue_timestamp_ms == 7 * DAY_MS
    assert made.hmac == hmac.digest(SECRET.encode(), made.token_id.encode(), "sha512")
    mechanism = ScramMechanism.SCRAM_SHA_256
    found = broker.broker.credentials.of_token(mechanism, made.token_id)
    assert found is not None
    assert (found.owner, found.expires_ms) == ("alice", made.expiry_timestamp_ms)
    credential = found.credential
    password = b64encode(made.hmac).decode()
    salted = mechanism.salted_password(password, credential.salt, credential.iterations)
    assert credential.stored_key == mechanism.hash(mechanism.client_key(salted))


def test_what_lies_in_zookeeper_is_no_secret(broker: LoneBroker) -> None:
    made = create(broker)
    (session_id,) = broker.zookeeper.model.sessions
    path = TokenInformation.path(made.token_id)
    found, _ = broker.zookeeper.model.apply(session_id, GetData(path))
    assert isinstance(found, Data)
    kept = TokenInformation.decode(found.data)
    assert (kept.owner, kept.requester, kept.renewers) == (ALICE, ALICE, (BOB,))
    assert TokenInformation.decode(kept.encode()) == kept
    assert b64encode(made.hmac) not in found.data
    assert SECRET not in str(broker.journal.events)
    assert expire(broker, ALICE, made.hmac)[0] == 0
    found, _ = broker.zookeeper.model.apply(session_id, GetData(path))
    assert isinstance(found, Failed)


def test_owners_and_renewers_alone_renew(broker: LoneBroker) -> None:
    made = create(broker)
    code, expires_ms = renew(broker, BOB, made.hmac, 1000)
    assert (code, expires_ms < made.expiry_timestamp_ms) == (0, True)
    assert renew(broker, ALICE, made.hmac, 1 << 50) == (0, made.max_timestamp_ms)
    assert renew(broker, CAROL, made.hmac) == (ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH, -1)
    assert expire(broker, CAROL, made.hmac) == (ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH, -1)
    assert renew(broker, ALICE, b"nonsense") == (ErrorCode.DELEGATION_TOKEN_NOT_FOUND, -1)


def test_an_expired_token_is_renewed_no_more_and_goes(broker: LoneBroker) -> None:
    made = create(broker, max_lifetime_ms=5_000)
    assert made.expiry_timestamp_ms == made.max_timestamp_ms
    broker.scheduler.advance(6_000)
    assert renew(broker, ALICE, made.hmac) == (ErrorCode.DELEGATION_TOKEN_EXPIRED, -1)
    assert described(broker, ALICE) == ["alice"]
    broker.scheduler.advance(3_600_000)
    broker.settle()
    assert described(broker, ALICE) == []


def test_tokens_of_others_need_leave(broker: LoneBroker) -> None:
    create(broker)
    create(broker, CAROL, renewers=[])
    assert described(broker, BOB) == ["alice"]
    assert described(broker, KafkaPrincipal("User", "ANONYMOUS")) == ["alice", "carol"]
    assert described(broker, KafkaPrincipal("User", "ANONYMOUS"), CAROL) == ["carol"]
    denied = create(broker, BOB, owner_principal_type="User", owner_principal_name="alice")
    assert denied.error_code == ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    wrong = [CreatableRenewers(principal_type="Group", principal_name="g")]
    assert create(broker, renewers=wrong).error_code == ErrorCode.INVALID_PRINCIPAL_TYPE


@pytest.mark.parametrize("version", range(4))
def test_nobody_gets_a_token(broker: LoneBroker, version: int) -> None:
    by_token = KafkaPrincipal("User", "alice", token_authenticated=True)
    asked = CreateDelegationTokenRequest(max_lifetime_ms=-1)
    not_allowed = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    assert broker.ask(asked, version).error_code == not_allowed
    answer = broker.ask(asked, version, principal=by_token, listener=SASL)
    assert (answer.error_code, answer.issue_timestamp_ms) == (not_allowed, -1)
    described = broker.ask(DescribeDelegationTokenRequest(owners=None), version)
    assert described.error_code == not_allowed


class TestWithoutASecretKey:
    @pytest.fixture
    def properties(self) -> dict[str, str]:
        return WITH_SASL

    def test_there_are_none(self, broker: LoneBroker) -> None:
        disabled = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
        assert create(broker).error_code == disabled
        assert renew(broker, ALICE, b"h") == expire(broker, ALICE, b"h") == (disabled, -1)
        answer = ask(broker, ALICE, DescribeDelegationTokenRequest(owners=None))
        assert answer.error_code == disabled
