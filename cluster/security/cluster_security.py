"""What a cluster that is launched secure is secured with, in the folder ``security`` of its state.

ca.pem             the authority's certificate, which clients trust
broker.pem         the brokers' certificate and key
users.json         names and passwords
client.properties  how a Java client connects; every other client has the same under other names

TLS and SCRAM-SHA-512, for clients and for brokers among themselves. All of it is made when the
cluster is first started, and goes with its data.
"""

from __future__ import annotations

import datetime
import json
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import Layout, write_private
from logquake.cluster.processes.ports import LOOPBACK
from logquake.node.authentication.scram import ScramCredential
from logquake.wire.sasl.scram_mechanism import ScramMechanism

PROTOCOL = "SASL_SSL"
MECHANISM = ScramMechanism.SCRAM_SHA_512
_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
_USER, _BROKER = "logquake", "broker"
_PASSWORD_BYTES = 12
_SALT_BYTES = 16
_HOSTS = (LOOPBACK, "localhost")


@dataclass(frozen=True, slots=True)
class User:
    name: str
    password: str

    def __repr__(self) -> str:
        return f"User({self.name!r}, ...)"

    def credential(self) -> ScramCredential:
        """As ZooKeeper keeps it; another one each time, of the same password."""
        salt, iterations = secrets.token_bytes(_SALT_BYTES), MECHANISM.min_iterations
        salted = MECHANISM.salted_password(self.password, salt, iterations)
        return ScramCredential.of(MECHANISM, salted, salt, iterations)

    def login_module(self) -> str:
        return f'{_MODULE} required username="{self.name}" password="{self.password}";'


@dataclass(frozen=True, slots=True)
class ClusterSecurity:
    """``user`` is for clients; ``broker`` is whom brokers are to each other."""

    folder: Path
    user: User
    broker: User

    @property
    def authority(self) -> Path:
        return self.folder / "ca.pem"

    @property
    def java_properties(self) -> Path:
        return self.folder / "client.properties"

    def broker_properties(self, port: int) -> dict[str, str]:
        """What it adds to a broker's server.properties, and replaces there."""
        own = f"listener.name.{PROTOCOL.lower()}.{MECHANISM.value.lower()}"
        return {
            "listeners": f"{PROTOCOL}://{LOOPBACK}:{port}",
            "security.inter.broker.protocol": PROTOCOL,
            "sasl.enabled.mechanisms": MECHANISM.value,
            "sasl.mechanism.inter.broker.protocol": MECHANISM.value,
            f"{own}.sasl.jaas.config": self.broker.login_module(),
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(_key_store(self.folder)),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.authority),
        }

    def user_configs(self) -> dict[str, dict[str, str]]:
        """What /config/users says of each."""
        return {
            each.name: {MECHANISM.value: each.credential().encode()}
            for each in (self.user, self.broker)
        }

    def for_java(self) -> dict[str, str]:
        return {
            "security.protocol": PROTOCOL,
            "sasl.mechanism": MECHANISM.value,
            "sasl.jaas.config": self.user.login_module(),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.authority),
        }

    def for_librdkafka(self) -> dict[str, str]:
        """confluent-kafka, kcat and the other clients that are librdkafka within."""
        return {
            "security.protocol": PROTOCOL,
            "sasl.mechanism": MECHANISM.value,
            "sasl.username": self.user.name,
            "sasl.password": self.user.password,
            "ssl.ca.location": str(self.authority),
        }

    def for_kafka_python(self) -> dict[str, str]:
        return {
            "security_protocol": PROTOCOL,
            "sasl_mechanism": MECHANISM.value,
            "sasl_plain_username": self.user.name,
            "sasl_plain_password": self.user.password,
            "ssl_cafile": str(self.authority),
        }


def read_security(layout: Layout) -> ClusterSecurity | None:
    """None of a cluster that is open to all."""
    users = _users(layout.security)
    try:
        document = json.loads(users.read_text())
        return ClusterSecurity(
            layout.security, User(**document["user"]), User(**document["broker"])
        )
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ClusterError(f"cannot read {users}: logquake down, then up --secure") from error


def settle_security(layout: Layout, *, secure: bool) -> ClusterSecurity | None:
    """Of a secure cluster what is there already, or all of it anew. Raises ClusterError.

    Of another one nothing stays, which would tell clients of a protocol that it does not speak.
    """
    if not secure:
        shutil.rmtree(layout.security, ignore_errors=True)
        return None
    found = read_security(layout)
    if found is not None:
        return found
    made = ClusterSecurity(layout.security, _new_user(_USER), _new_user(_BROKER))
    try:
        layout.security.mkdir(mode=0o700, exist_ok=True)
        _issue(made)
        write_private(made.java_properties, _as_properties(made.for_java()))
        # Last: whoever finds it finds all.
        users = {"user": asdict(made.user), "broker": asdict(made.broker)}
        write_private(_users(layout.security), json.dumps(users, indent=2) + "\n")
    except OSError as error:
        raise ClusterError(f"cannot use {layout.security}: {error.strerror}") from error
    return made


def _issue(security: ClusterSecurity) -> None:
    from logquake.cluster.security.certificates import Authority

    authority = Authority("logquake", datetime.datetime.now(datetime.UTC))
    ours = authority.issue(_BROKER, _HOSTS)
    security.authority.write_text(authority.certificate)
    write_private(_key_store(security.folder), ours.certificate + ours.key)


def _new_user(name: str) -> User:
    return User(name, secrets.token_urlsafe(_PASSWORD_BYTES))


def _key_store(folder: Path) -> Path:
    return folder / "broker.pem"


def _users(folder: Path) -> Path:
    return folder / "users.json"


def _as_properties(properties: Mapping[str, str]) -> str:
    return "".join(f"{key}={value}\n" for key, value in properties.items())
