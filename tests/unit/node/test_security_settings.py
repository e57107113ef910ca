"""The keys of ssl.* and sasl.*, a listener's own before those of all."""

from __future__ import annotations

import pytest

from logquake.node.authentication.mechanisms import EnabledMechanism, PlainUsers
from logquake.node.authentication.unsecured_jws import UnsecuredValidator
from logquake.node.settings import BrokerSettings, SettingsError
from logquake.node.settings.security import SecuritySettings
from logquake.seams.tls.settings import ClientAuth, StoreType
from logquake.wire.listeners import ListenerName
from logquake.wire.sasl.logins import OAuthBearerLogin, PlainLogin
from logquake.wire.sasl.scram_client import ScramLogin
from logquake.wire.sasl.scram_mechanism import ScramMechanism

REQUIRED = {
    "broker.id": "1",
    "zookeeper.connect": "127.0.0.1:2181",
    "listeners": "PLAINTEXT://127.0.0.1:1,SSL://127.0.0.1:2,SASL_SSL://127.0.0.1:3",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256",
}
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"
BEARER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
JAAS = "listener.name.sasl_ssl.plain.sasl.jaas.config"
SSL, SASL_SSL = ListenerName("SSL"), ListenerName("SASL_SSL")


def read(properties: dict[str, str] | None = None, **keys: str) -> SecuritySettings:
    """Keys are written with '_' for '.'."""
    named = {key.replace("_", "."): value for key, value in keys.items()}
    return read_all({**named, **(properties or {})}).security


def read_all(properties: dict[str, str]) -> BrokerSettings:
    return BrokerSettings.from_properties({**REQUIRED, **properties})


def test_listeners_in_plaintext_have_none() -> None:
    assert set(read().listeners) == {SSL, SASL_SSL}
    assert (read().link.tls, read().link.login) == (None, None)


class TestTls:
    def test_a_listeners_own_key_goes_first(self) -> None:
        got = read(
            {
                "ssl.keystore.type": "PEM",
                "ssl.keystore.location": "/all.pem",
                "listener.name.ssl.ssl.keystore.location": "/own.pem",
            }
        )
        for listener, location in ((SSL, "/own.pem"), (SASL_SSL, "/all.pem")):
            tls = got.listeners[listener].tls
            assert tls is not None
            assert tls.key_store is not None
            assert (tls.key_store.type, tls.key_store.location) == (StoreType.PEM, location)

    def test_sasl_asks_for_certificates_by_its_own_key_alone(self) -> None:
        got = read({"ssl.client.auth": "required"}).listeners
        assert got[SSL].tls.client_auth is ClientAuth.REQUIRED  # type: ignore[union-attr]
        assert got[SASL_SSL].tls.client_auth is ClientAuth.NONE  # type: ignore[union-attr]
        got = read({"listener.name.sasl_ssl.ssl.client.auth": "requested"}).listeners
        assert got[SASL_SSL].tls.client_auth is ClientAuth.REQUESTED  # type: ignore[union-attr]

    @pytest.mark.parametrize(("value", "checks"), [("https", True), ("HTTPS", True), ("", False)])
    def test_the_host_is_checked_unless_the_key_is_empty(self, value: str, checks: bool) -> None:
        tls = read(ssl_endpoint_identification_algorithm=value).listeners[SSL].tls
        assert tls is not None
        assert tls.checks_host is checks

    def test_rules_for_principals(self) -> None:
        got = read({"listener.name.ssl.ssl.principal.mapping.rules": "RULE:^CN=(.*)$/$1/"})
        assert got.listeners[SSL].principal_mapping.name_of("CN=duke") == "duke"
        assert got.listeners[SASL_SSL].principal_mapping.name_of("CN=duke") == "CN=duke"


class TestSasl:
    def test_mechanisms_of_a_listener(self) -> None:
        got = read(
            {
                "listener.name.sasl_ssl.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512,OAUTHBEARER",
                JAAS: f'{PLAIN} username="x" user_alice="hush";',
                "listener.name.sasl_ssl.oauthbearer.sasl.jaas.config": (
                    f'{BEARER} unsecuredValidatorRequiredScope="read";'
                ),
                "listener.name.sasl_ssl.plain.connections.max.reauth.ms": "1000",
                "connections.max.reauth.ms": "2000",
            }
        )
        assert got.uses_scram
        assert got.listeners[SASL_SSL].mechanisms == {
            "PLAIN": EnabledMechanism(PlainUsers({"alice": "hush"}), 1000),
            "SCRAM-SHA-512": EnabledMechanism(ScramMechanism.SCRAM_SHA_512, 2000),
            "OAUTHBEARER": EnabledMechanism(UnsecuredValidator(required_scope=("read",)), 2000),
        }

    @pytest.mark.parametrize(
        ("mechanism", "module", "login"),
        [
            ("PLAIN", f'{PLAIN} username="b" password="p";', PlainLogin("b", "p")),
            (
                "SCRAM-SHA-512",
                f'{SCRAM} username="b" password="p";',
                ScramLogin(ScramMechanism.SCRAM_SHA_512, "b", "p"),
            ),
            (
                "OAUTHBEARER",
                f'{BEARER} unsecuredLoginStringClaim_sub="b";',
                OAuthBearerLogin({"sub": "b"}),
            ),
        ],
    )
    def test_brokers_among_themselves(self, mechanism: str, module: str, login: object) -> None:
        got = read(
            {
                "security.inter.broker.protocol": "SASL_SSL",
                "sasl.enabled.mechanisms": mechanism,
                "sasl.mechanism.inter.broker.protocol": mechanism,
                f"listener.name.sasl_ssl.{mechanism.lower()}.sasl.jaas.config": module,
            }
        )
        assert got.link.login == login
        assert got.link.tls is not None


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"sasl.enabled.mechanisms": ""}, "sasl.enabled.mechanisms=GSSAPI is not allowed"),
        ({"sasl.enabled.mechanisms": "DIGEST-MD5"}, "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512"),
        ({"sasl.enabled.mechanisms": "PLAIN"}, f"{JAAS} is not set: a login module org.apache"),
        (
            {"sasl.enabled.mechanisms": "PLAIN", JAAS: f'{SCRAM} user_a="secret";'},
            "its login module is not org.apache.kafka.common.security.plain.PlainLoginModule",
        ),
        (
            {"sasl.enabled.mechanisms": "PLAIN", JAAS: f'{PLAIN} user_a="secret"'},
            f"{JAAS} is not allowed: 0 login modules",
        ),
        (
            {
                "inter.broker.listener.name": "SASL_SSL",
                "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-256",
                "listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config": f"{SCRAM};",
            },
            "has no username and password",
        ),
        ({"ssl.keystore.type": "BKS"}, "ssl.keystore.type=BKS is not allowed: PEM or PKCS12"),
        ({"ssl.enabled.protocols": "SSLv3"}, "TLSv1.2 or TLSv1.3 is"),
        ({"ssl.principal.mapping.rules": "RULE:a"}, "no rule begins at character 1"),
        ({"ssl.endpoint.identification.algorithm": "ldap"}, "https or nothing"),
    ],
)
def test_refusals_show_no_secret(properties: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read(properties)
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)


def test_settings_show_no_secret() -> None:
    settings = read_all(
        {
            "sasl.enabled.mechanisms": "PLAIN",
            JAAS: f'{PLAIN} username="broker" password="secret" user_a="secret";',
            "inter.broker.listener.name": "SASL_SSL",
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            "ssl.keystore.key": "secret",
            "ssl.key.password": "secret",
            "ssl.keystore.password": "secret",
            "ssl.truststore.password": "secret",
        }
    )
    assert "secret" not in repr(settings)
