"""Brokers whose listeners ask who comes, ours and Kafka's alike, and clients that can say it.

Three listeners: OPEN is SASL_PLAINTEXT, CLOSED is SASL_SSL and the brokers' own, MUTUAL is SSL and
wants a certificate.
"""

from __future__ import annotations

import asyncio
import ssl
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka import TopicPartition as AioPartition
from aiokafka.abc import AbstractTokenProvider as AioAbstractTokenProvider
from confluent_kafka import Consumer, Producer, TopicPartition

from logquake.cluster.security.certificates import Authority
from logquake.cluster.supervisor.scram_program import write_users
from logquake.node.authentication.scram import ScramCredential
from logquake.wire.sasl.oauthbearer import make_token
from logquake.wire.sasl.scram_mechanism import ScramMechanism
from tests.one_broker import held_ports
from tests.waiting import PATIENCE_S

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it reads its schemas in the old way
    from kafka import KafkaConsumer, KafkaProducer
    from kafka import TopicPartition as PythonPartition
    from kafka.net.sasl.oauth import AbstractTokenProvider

PROTOCOLS = {"OPEN": "SASL_PLAINTEXT", "CLOSED": "SASL_SSL", "MUTUAL": "SSL"}
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
USER, PASSWORD, BROKER_PASSWORD = "alice", "hush, alice", "among-us"
_SECURITY = "org.apache.kafka.common.security"
_MODULES = {
    "PLAIN": f"{_SECURITY}.plain.PlainLoginModule",
    "SCRAM-SHA-256": f"{_SECURITY}.scram.ScramLoginModule",
    "SCRAM-SHA-512": f"{_SECURITY}.scram.ScramLoginModule",
    "OAUTHBEARER": f"{_SECURITY}.oauthbearer.OAuthBearerLoginModule",
}


@dataclass(frozen=True)
class Certificates:
    """Files of PEM: the authority's certificate, and certificates with their keys."""

    authority: Path
    broker: Path
    client: Path


def issue(folder: Path) -> Certificates:
    authority = Authority("test", datetime.now(UTC))
    made = Certificates(folder / "ca.pem", folder / "broker.pem", folder / "client.pem")
    made.authority.write_text(authority.certificate)
    for path, name, hosts in ((made.broker, "broker", ["127.0.0.1"]), (made.client, USER, [])):
        ours = authority.issue(name, hosts)
        path.write_text(ours.certificate + ours.key)
    return made


@dataclass(frozen=True)
class Brokers:
    """Ports by broker and listener."""

    certificates: Certificates
    zookeeper: str
    ports: Mapping[int, Mapping[str, int]]

    def server(self, listener: str, broker_id: int | None = None) -> str:
        first = next(iter(self.ports)) if broker_id is None else broker_id
        return f"127.0.0.1:{self.ports[first][listener]}"

    def properties(self, broker_id: int, data: Path) -> dict[str, object]:
        """Of server.properties."""
        ports = self.ports[broker_id]
        found: dict[str, object] = {
            "broker.id": broker_id,
            "listeners": ",".join(f"{name}://127.0.0.1:{ports[name]}" for name in PROTOCOLS),
            "listener.security.protocol.map": ",".join(
                f"{name}:{protocol}" for name, protocol in PROTOCOLS.items()
            ),
            "inter.broker.listener.name": "CLOSED",
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            "sasl.enabled.mechanisms": ",".join(MECHANISMS),
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": self.certificates.broker,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": self.certificates.authority,
            "ssl.principal.mapping.rules": "RULE:^CN=(.*)$/$1/,DEFAULT",
            "listener.name.mutual.ssl.client.auth": "required",
            "log.dirs": data,
            "zookeeper.connect": self.zookeeper,
            "offsets.topic.replication.factor": 1,
        }
        for listener in ("open", "closed"):
            for mechanism in MECHANISMS:
                key = f"listener.name.{listener}.{mechanism.lower()}.sasl.jaas.config"
                found[key] = _server_module(mechanism)
        return found


@contextmanager
def brokers(folder: Path, zookeeper: str, *broker_ids: int) -> Iterator[Brokers]:
    """Their ports and certificates, and the users in ZooKeeper; they are not started."""
    with held_ports(len(broker_ids) * len(PROTOCOLS)) as free:
        ports = iter(free)
        by_broker = {each: {name: next(ports) for name in PROTOCOLS} for each in broker_ids}
        assert write_users(zookeeper, {USER: _credentials()}) == 0
        yield Brokers(issue(folder), zookeeper, by_broker)


def _credentials() -> dict[str, str]:
    texts = {}
    for mechanism in ScramMechanism:
        salted = mechanism.salted_password(PASSWORD, b"salt", 4096)
        texts[mechanism.value] = ScramCredential.of(mechanism, salted, b"salt", 4096).encode()
    return texts


def _server_module(mechanism: str) -> str:
    options = {
        "PLAIN": f'username="broker" password="{BROKER_PASSWORD}" '
        f'user_broker="{BROKER_PASSWORD}" user_{USER}="{PASSWORD}"',
        "OAUTHBEARER": 'unsecuredLoginStringClaim_sub="broker"',
    }
    return f"{_MODULES[mechanism]} required {options.get(mechanism, '')};"


# What each client library has to be told


def for_java(brokers: Brokers, listener: str, mechanism: str | None) -> dict[str, str]:
    found = {"security.protocol": PROTOCOLS[listener]}
    if listener != "OPEN":
        found["ssl.truststore.type"] = "PEM"
        found["ssl.truststore.location"] = str(brokers.certificates.authority)
    if mechanism is None:
        found["ssl.keystore.type"] = "PEM"
        found["ssl.keystore.location"] = str(brokers.certificates.client)
        return found
    options = f'username="{USER}" password="{PASSWORD}"'
    if mechanism == "OAUTHBEARER":
        options = f'unsecuredLoginStringClaim_sub="{USER}"'
    found["sasl.mechanism"] = mechanism
    found["sasl.jaas.config"] = f"{_MODULES[mechanism]} required {options};"
    return found


def for_librdkafka(
    brokers: Brokers, listener: str, mechanism: str | None, password: str = PASSWORD
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "bootstrap.servers": brokers.server(listener),
        "security.protocol": PROTOCOLS[listener],
    }
    if listener != "OPEN":
        found["ssl.ca.location"] = str(brokers.certificates.authority)
    if mechanism is None:
        found["ssl.certificate.location"] = str(brokers.certificates.client)
        found["ssl.key.location"] = str(brokers.certificates.client)
        return found
    found["sasl.mechanism"] = mechanism
    if mechanism == "OAUTHBEARER":
        found["enable.sasl.oauthbearer.unsecure.jwt"] = True
        found["sasl.oauthbearer.config"] = f"principal={USER}"
    else:
        found["sasl.username"], found["sasl.password"] = USER, password
    return found


def for_python(brokers: Brokers, listener: str, mechanism: str | None) -> dict[str, Any]:
    """kafka-python and aiokafka, but for OAUTHBEARER's token."""
    found: dict[str, Any] = {
        "bootstrap_servers": brokers.server(listener),
        "security_protocol": PROTOCOLS[listener],
    }
    if listener != "OPEN":
        context = ssl.create_default_context(cafile=str(brokers.certificates.authority))
        if mechanism is None:
            context.load_cert_chain(brokers.certificates.client)
        found["ssl_context"] = context
    if mechanism is not None:
        found["sasl_mechanism"] = mechanism
        if mechanism != "OAUTHBEARER":
            found["sasl_plain_username"], found["sasl_plain_password"] = USER, PASSWORD
    return found


def bearers_token() -> str:
    return make_token({"sub": USER, "exp": time() + 3600})


class TokenProvider(AbstractTokenProvider):  # type: ignore[misc]
    def token(self) -> str:
        return bearers_token()


class AioTokenProvider(AioAbstractTokenProvider):  # type: ignore[misc]
    async def token(self) -> str:
        return bearers_token()


# A record there and back again, by each of them


def by_librdkafka(brokers: Brokers, listener: str, mechanism: str | None, topic: str) -> bytes:
    settings = for_librdkafka(brokers, listener, mechanism)
    producer = Producer(settings)
    producer.produce(topic, b"librdkafka", partition=0)
    assert producer.flush(PATIENCE_S) == 0
    consumer = Consumer({**settings, "group.id": "none", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    (record,) = consumer.consume(1, timeout=PATIENCE_S)
    consumer.close()
    return record.value() or b""


def by_kafka_python(brokers: Brokers, listener: str, mechanism: str | None, topic: str) -> bytes:
    settings = for_python(brokers, listener, mechanism)
    if mechanism == "OAUTHBEARER":
        settings["sasl_oauth_token_provider"] = TokenProvider()
    with closing(KafkaProducer(**settings)) as producer:
        producer.send(topic, b"kafka-python", partition=0).get(PATIENCE_S)
    with closing(KafkaConsumer(**settings, consumer_timeout_ms=PATIENCE_S * 1000)) as consumer:
        consumer.assign([PythonPartition(topic, 0)])
        consumer.seek(PythonPartition(topic, 0), 0)
        return bytes(next(consumer).value)


def by_aiokafka(brokers: Brokers, listener: str, mechanism: str | None, topic: str) -> bytes:
    async def there_and_back() -> bytes:
        settings = for_python(brokers, listener, mechanism)
        if mechanism == "OAUTHBEARER":
            settings["sasl_oauth_token_provider"] = AioTokenProvider()
        async with AIOKafkaProducer(**settings) as producer:
            await producer.send_and_wait(topic, b"aiokafka", partition=0)
        async with AIOKafkaConsumer(**settings) as consumer:
            consumer.assign([AioPartition(topic, 0)])
            consumer.seek(AioPartition(topic, 0), 0)
            return bytes((await consumer.getone()).value)

    return asyncio.run(asyncio.wait_for(there_and_back(), PATIENCE_S))


Library = Callable[[Brokers, str, "str | None", str], bytes]
LIBRARIES: dict[str, Library] = {
    "librdkafka": by_librdkafka,
    "kafka-python": by_kafka_python,
    "aiokafka": by_aiokafka,
}
