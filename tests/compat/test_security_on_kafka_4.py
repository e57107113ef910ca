"""Our clients get in at a broker of Kafka 4.1, each way that its listeners have: what a producer
writes there a consumer reads, both as somebody who an admin client has made known.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from logquake.client import Admin, Consumer, Producer
from logquake.client.admin import NewTopic, UserScramCredentialUpsertion
from logquake.client.errors import AuthenticationFailedError, ClientError
from logquake.wire.sasl.scram_mechanism import ScramMechanism
from logquake.wire.topic_partition import TopicPartition
from tests.compat.kafka_programs import programs_in
from tests.compat.releases import kraft, storage_formatted
from tests.compat.secured_brokers import PASSWORD, PROTOCOLS, USER, Brokers, for_java, issue
from tests.compat.test_client_security import ALL_WAYS
from tests.one_broker import held_ports
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.maven]

ID = 7
TOPIC = "t"
PLACE = TopicPartition(TOPIC, 0)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokers]:
    folder = tmp_path_factory.mktemp("secured")
    programs = programs_in("LOGQUAKE_KAFKA_4_LIBS", folder)
    with held_ports(len(PROTOCOLS) + 1) as (controller, *ports):
        broker = Brokers(issue(folder), "", {ID: dict(zip(PROTOCOLS, ports, strict=True))})
        properties = storage_formatted(programs, _properties(broker, controller, folder / "data"))
        with programs.broker("broker", properties):
            wait_for("users", lambda: _make_known(broker), unready=(ClientError,))
            yield broker


def _properties(broker: Brokers, controller: int, data: object) -> dict[str, object]:
    found = broker.properties(ID, data)  # type: ignore[arg-type]
    del found["zookeeper.connect"], found["broker.id"]
    listeners, protocols = found["listeners"], found["listener.security.protocol.map"]
    return (
        found
        | kraft(ID, controller)
        | {
            "listeners": f"{listeners},CONTROLLER://127.0.0.1:{controller}",
            "listener.security.protocol.map": f"{protocols},CONTROLLER:PLAINTEXT",
        }
    )


def _make_known(broker: Brokers) -> bool:
    with Admin(keys(broker, "CLOSED", "PLAIN")) as admin:
        for mechanism in ScramMechanism:  # no request may alter a user's twice
            known = UserScramCredentialUpsertion(USER, PASSWORD, mechanism)
            admin.alter_user_scram_credentials([known])[USER].result(PATIENCE_S)
        if TOPIC not in admin.list_topics().result(PATIENCE_S):
            admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(PATIENCE_S)
    return True


def keys(broker: Brokers, listener: str, mechanism: str | None) -> dict[str, str]:
    return {
        "bootstrap.servers": broker.server(listener),
        **for_java(broker, listener, mechanism),
    }


@pytest.mark.parametrize(("listener", "mechanism"), ALL_WAYS)
def test_what_is_written_is_read(broker: Brokers, listener: str, mechanism: str | None) -> None:
    given = keys(broker, listener, mechanism)
    with Producer(given) as producer:
        at = producer.send(TOPIC, f"{listener} {mechanism}".encode()).result(PATIENCE_S).offset
    with Consumer(given) as consumer:
        consumer.assign([PLACE])
        consumer.seek(PLACE, at)
        read = wait_for("a record", lambda: list(consumer.poll(500)), bool)
    assert read[0].value == f"{listener} {mechanism}".encode()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512", "OAUTHBEARER"])
def test_who_is_unknown_is_told_so(broker: Brokers, mechanism: str) -> None:
    given = keys(broker, "OPEN", mechanism)
    given["sasl.jaas.config"] = (
        given["sasl.jaas.config"].replace(PASSWORD, "a guess").replace("_sub=", "_nobody=")
    )
    with Admin(given) as admin, pytest.raises(AuthenticationFailedError) as caught:
        admin.list_topics().result(PATIENCE_S)
    assert "guess" not in str(caught.value)
