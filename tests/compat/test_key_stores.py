"""A listener gets another key while the broker runs, and whoever comes next meets it.

librdkafka alters the broker, by its own certificates' authority a client trusts it.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
)
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509 import load_pem_x509_certificate

from logquake.cluster.api import Cluster
from logquake.cluster.security.certificates import Authority
from tests.by_hand import broker_by_hand, own_chroot
from tests.one_broker import OneBroker, held_ports
from tests.waiting import PATIENCE_S, wait_for

BROKER_ID = 7
SEAL = "open sesame"
PREFIX = "listener.name.closed.ssl.keystore"


@dataclass(frozen=True)
class Closed:
    """A broker with a listener of TLS, CLOSED, and one that is open to all."""

    open_port: int
    port: int
    zookeeper: str
    folder: Path
    authority: Authority

    @contextmanager
    def started(self) -> Iterator[None]:
        ports = self.open_port, self.port
        properties = {
            "broker.id": BROKER_ID,
            "listeners": f"OPEN://127.0.0.1:{ports[0]},CLOSED://127.0.0.1:{ports[1]}",
            "listener.security.protocol.map": "OPEN:PLAINTEXT,CLOSED:SSL",
            "inter.broker.listener.name": "OPEN",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": self.issue("first.pem"),
            "password.encoder.secret": "hush",
            "log.dirs": self.folder / "data",
            "zookeeper.connect": self.zookeeper,
        }
        with broker_by_hand(self.folder, properties):
            OneBroker(self.open_port).wait_to_know({BROKER_ID})
            yield

    def issue(self, name: str) -> Path:
        """A new certificate and its key."""
        issued = self.authority.issue("broker", ["127.0.0.1"])
        path = self.folder / name
        path.write_text(issued.certificate + issued.key)
        return path

    def shown(self) -> str:
        """The certificate that a new connection meets."""
        return ssl.get_server_certificate(("127.0.0.1", self.port))

    def alter(self, **keys: str) -> None:
        """Keys of the key store. Raises KafkaException."""
        admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{self.open_port}"})
        entries = [
            ConfigEntry(f"{PREFIX}.{key}", value, incremental_operation=AlterConfigOpType.SET)
            for key, value in keys.items()
        ]
        resource = ConfigResource(
            ConfigResource.Type.BROKER, str(BROKER_ID), incremental_configs=entries
        )
        admin.incremental_alter_configs([resource])[resource].result(PATIENCE_S)

    def wait_to_show(self, certificate: Path) -> None:
        shown = certificate.read_text().startswith
        wait_for(f"a connection that meets {certificate}", self.shown, shown)

    def is_trusted(self) -> bool:
        ca = self.folder / "ca.pem"
        ca.write_text(self.authority.certificate)
        settings: dict[str, str | int | float | bool] = {
            "bootstrap.servers": f"127.0.0.1:{self.port}",
            "security.protocol": "SSL",
            "ssl.ca.location": str(ca),
        }
        return BROKER_ID in AdminClient(settings).list_topics(timeout=PATIENCE_S).brokers


@pytest.fixture
def stopped(cluster: Cluster, tmp_path: Path) -> Iterator[Closed]:
    """It has not been started."""
    with held_ports(2) as ports:
        zookeeper = own_chroot(cluster.zookeeper_connect, tmp_path.name)
        authority = Authority("test", datetime.now(UTC))
        yield Closed(ports[0], ports[1], zookeeper, tmp_path, authority)


@pytest.fixture
def closed(stopped: Closed) -> Iterator[Closed]:
    with stopped.started():
        yield stopped


def test_a_key_store_is_changed_while_the_broker_runs(closed: Closed) -> None:
    closed.wait_to_show(closed.folder / "first.pem")
    assert closed.is_trusted()
    second = closed.issue("second.pem")
    closed.alter(location=str(second), type="PEM")
    closed.wait_to_show(second)
    closed.issue("second.pem")  # the same file, written over
    closed.alter(location=str(second))
    closed.wait_to_show(second)
    assert closed.is_trusted()
    with pytest.raises(KafkaException, match="cannot read"):
        closed.alter(location=str(closed.folder / "missing.pem"))
    closed.wait_to_show(second)
    third = closed.issue("third.pem")
    closed.alter(location=str(encrypted(third)), type="PKCS12", password=SEAL)
    closed.wait_to_show(third)
    assert closed.is_trusted()


def encrypted(pem: Path) -> Path:
    """The same as a PKCS#12 file."""
    text = pem.read_bytes()
    key = load_pem_private_key(text, None)
    store = pem.with_suffix(".p12")
    assert isinstance(key, EllipticCurvePrivateKey)
    certificate = load_pem_x509_certificate(text)
    sealed = BestAvailableEncryption(SEAL.encode())
    store.write_bytes(pkcs12.serialize_key_and_certificates(b"", key, certificate, None, sealed))
    return store
