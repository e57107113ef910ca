"""What ssl.* and sasl.* come to."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Any

import pytest

from logquake.client.clock import SystemClock
from logquake.client.errors import AuthenticationFailedError, SettingsError
from logquake.client.settings.admin import AdminConfig
from logquake.client.settings.reading import read
from logquake.client.tls_and_sasl import way_in_of
from logquake.seams.tls.settings import KeyStore, StoreType, TlsSettings, TrustStore
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.header import encode_response
from logquake.wire.messages.sasl import SaslHandshakeResponse
from logquake.wire.sasl.logins import OAuthBearerLogin, PlainLogin
from logquake.wire.sasl.scram_client import ScramLogin
from logquake.wire.sasl.scram_mechanism import ScramMechanism
from tests.parts import joined

MODULES = "org.apache.kafka.common.security"
PLAIN = f'{MODULES}.plain.PlainLoginModule required username="alice" password="hush-hush";'
SCRAM = f'{MODULES}.scram.ScramLoginModule required username="alice" password="hush-hush";'
BEARER = (
    f'{MODULES}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="alice";'
)
SPOKEN: dict[int, tuple[int, int]] = {ApiKey.SASL_AUTHENTICATE: (0, 2)}


def config(**given: Any) -> AdminConfig:
    return read(AdminConfig, {"bootstrap_servers": "localhost:1", **given})


def refused(**given: Any) -> str:
    with pytest.raises(SettingsError) as caught:
        way_in_of(config(**given))
    assert "hush" not in str(caught.value)
    return str(caught.value)


def test_by_default_nothing_is_asked() -> None:
    assert (config().tls(), config().login()) == (None, None)
    way_in = way_in_of(config())
    assert (way_in.tls, way_in.new_login) == (None, None)


@pytest.mark.parametrize(
    ("mechanism", "jaas", "login"),
    [
        ("PLAIN", PLAIN, PlainLogin("alice", "hush-hush")),
        ("SCRAM-SHA-512", SCRAM, ScramLogin(ScramMechanism.SCRAM_SHA_512, "alice", "hush-hush")),
        ("OAUTHBEARER", BEARER, OAuthBearerLogin({"sub": "alice"})),
    ],
)
def test_a_login_module_says_who_we_are(mechanism: str, jaas: str, login: object) -> None:
    for protocol in ("SASL_PLAINTEXT", "sasl_ssl"):
        made = config(security_protocol=protocol, sasl_mechanism=mechanism, sasl_jaas_config=jaas)
        assert made.login() == login
        assert (made.tls() is not None) == (protocol == "sasl_ssl")
        assert "hush" not in repr(made)


def test_what_is_needed_to_log_in() -> None:
    sasl = {"security_protocol": "SASL_PLAINTEXT"}
    assert "sasl.mechanism=GSSAPI is not spoken here: PLAIN, SCRAM-SHA-256" in refused(**sasl)
    assert "PLAIN needs 'org.apache.kafka" in refused(**sasl, sasl_mechanism="PLAIN")
    for mechanism, jaas in (("PLAIN", SCRAM), ("SCRAM-SHA-256", "hush"), ("PLAIN", PLAIN[:-1])):
        said = refused(**sasl, sasl_mechanism=mechanism, sasl_jaas_config=jaas)
        assert "sasl.jaas.config cannot be used" in said
        assert f"{mechanism} needs 'org.apache.kafka" in said
        assert said.endswith("""LoginModule required username="..." password="...";'""")
        assert "hush" not in said


def test_a_secret_that_is_none_is_not_shown() -> None:
    assert "sasl.jaas.config=[hidden] is not allowed" in refused(sasl_jaas_config=b"hush")


def test_tokens_may_come_from_elsewhere() -> None:
    tokens = iter(["first"])
    made = config(
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="OAUTHBEARER",
        sasl_login_callback_handler_class=lambda: next(tokens),
    )
    new_login = way_in_of(made, SystemClock()).new_login
    assert new_login is not None
    assert new_login().start(SPOKEN)
    with pytest.raises(AuthenticationFailedError, match="there is no token"):
        new_login().start(SPOKEN)


async def later() -> str:
    return "token"


def hand_on() -> object:
    return later()


@pytest.mark.parametrize("told", [lambda: None, lambda: b"hush", hand_on])
def test_a_token_that_is_no_text_is_not_shown_to_a_broker(told: Callable[[], object]) -> None:
    made = config(
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="OAUTHBEARER",
        sasl_login_callback_handler_class=told,
    )
    new_login = way_in_of(made, SystemClock()).new_login
    assert new_login is not None
    with pytest.raises(AuthenticationFailedError, match="and no str") as raised:
        new_login().start(SPOKEN)
    assert "hush" not in str(raised.value)


@pytest.mark.parametrize("given", [5, "name", later], ids=["number", "name", "async"])
def test_what_is_to_return_tokens_is_a_function_that_nobody_has_to_await(given: object) -> None:
    assert "a function, neither async" in refused(sasl_login_callback_handler_class=given)


def test_a_broker_without_the_request_is_not_asked() -> None:
    made = config(security_protocol="SASL_SSL", sasl_mechanism="PLAIN", sasl_jaas_config=PLAIN)
    new_login = way_in_of(made, SystemClock()).new_login
    assert new_login is not None
    with pytest.raises(AuthenticationFailedError, match="no SaslAuthenticate"):
        new_login().start({})


@pytest.mark.parametrize(
    ("code", "mechanisms", "why"),
    [
        (
            ErrorCode.ILLEGAL_SASL_STATE,
            [],
            "a listener whose security.protocol is PLAINTEXT or SSL",
        ),
        (ErrorCode.UNSUPPORTED_SASL_MECHANISM, ["A", "B"], "PLAIN is not one of A, B"),
    ],
)
def test_a_listener_where_nobody_logs_in_so_is_told(
    code: ErrorCode, mechanisms: list[str], why: str
) -> None:
    made = config(security_protocol="SASL_SSL", sasl_mechanism="PLAIN", sasl_jaas_config=PLAIN)
    new_login = way_in_of(made, SystemClock()).new_login
    assert new_login is not None
    login = new_login()
    login.start(SPOKEN)
    answer = SaslHandshakeResponse(error_code=code, mechanisms=mechanisms)
    frame = joined(encode_response(1, answer, 1))[4:]
    with pytest.raises(AuthenticationFailedError, match=why):
        login.receive(frame)


def test_stores_and_suites() -> None:
    made = config(
        security_protocol="SSL",
        ssl_keystore_type="PEM",
        ssl_keystore_location="/key.pem",
        ssl_key_password="hush-hush",
        ssl_truststore_type="pkcs12",
        ssl_truststore_location="/trust.p12",
        ssl_truststore_password="hush-hush",
        ssl_enabled_protocols="TLSv1.3",
        ssl_cipher_suites=["TLS_AES_128_GCM_SHA256"],
        ssl_endpoint_identification_algorithm="",
    )
    assert made.tls() == TlsSettings(
        KeyStore(StoreType.PEM, "/key.pem", key_password="hush-hush"),
        TrustStore(StoreType.PKCS12, "/trust.p12", "hush-hush"),
        enabled_protocols=("TLSv1.3",),
        cipher_suites=("TLS_AES_128_GCM_SHA256",),
        checks_host=False,
    )
    assert "cannot read /trust.p12" in refused(
        security_protocol="SSL", ssl_truststore_location="/trust.p12"
    )


def test_a_context_of_the_programs_own() -> None:
    own = ssl.create_default_context()
    assert way_in_of(config(security_protocol="SSL", ssl_engine_factory_class=own)).tls is own
    assert "is no ssl.SSLContext" in refused(
        security_protocol="SSL", ssl_engine_factory_class=object()
    )
