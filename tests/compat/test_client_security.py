"""Our clients get in at brokers that ask who comes, ours and a real Kafka, and stay."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from typing import Any

import pytest

from logquake.client import Consumer
from logquake.client.clock import SystemClock
from logquake.client.connection import Connection, connect_to_one
from logquake.client.errors import AuthenticationFailedError, ConnectionLostError
from logquake.client.network.link import Serving
from logquake.client.network.settings import NetworkSettings
from logquake.client.settings import Address
from logquake.client.settings.admin import AdminConfig
from logquake.client.settings.reading import read
from logquake.client.tls_and_sasl import way_in_of
from logquake.cluster.api import Cluster
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from logquake.wire.topic_partition import TopicPartition
from tests.by_hand import broker_by_hand, own_chroot
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.secured_brokers import (
    MECHANISMS,
    Brokers,
    bearers_token,
    brokers,
    for_java,
)
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.maven]

OURS, KAFKAS = 7, 9
PATIENCE_MS = int(PATIENCE_S * 1000)
SESSION_MS = 2_500
WAYS = [(listener, mechanism) for listener in ("OPEN", "CLOSED") for mechanism in MECHANISMS]
ALL_WAYS = [*WAYS, ("MUTUAL", None)]


@pytest.fixture(scope="module")
def both(
    kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Brokers]:
    """Each alone in its cluster, but for the users."""
    folder = tmp_path_factory.mktemp("entered")
    with ExitStack() as stack:
        zookeeper = own_chroot(cluster.zookeeper_connect, "entered")
        both = stack.enter_context(brokers(folder, zookeeper, OURS, KAFKAS))
        sessions = {"connections.max.reauth.ms": SESSION_MS}
        ours, kafkas = (both.properties(each, folder / f"{each}") | sessions for each in both.ports)
        stack.enter_context(broker_by_hand(folder, ours))
        stack.enter_context(kafka_programs.broker("entered", kafkas))
        for broker_id in both.ports:
            wait_for(
                f"broker {broker_id} that knows both",
                partial(known, both, broker_id),
                lambda ids: ids == {OURS, KAFKAS},
                unready=(ConnectionLostError, AuthenticationFailedError),
            )
        yield both


def known(both: Brokers, broker_id: int) -> set[int]:
    with closing(entered(both, broker_id, "OPEN", "SCRAM-SHA-256")) as connection:
        return ids(connection)


def entered(
    both: Brokers, broker_id: int, listener: str, mechanism: str | None, **others: Any
) -> Connection:
    """By the keys that a Java client takes."""
    server = both.server(listener, broker_id)
    given = {"bootstrap_servers": server, **for_java(both, listener, mechanism), **others}
    way_in = way_in_of(read(AdminConfig, given), SystemClock())
    host, port = server.split(":")
    settings = NetworkSettings(request_timeout_ms=PATIENCE_MS)
    return connect_to_one(Address(host, int(port)), settings, way_in)


def ids(connection: Connection) -> set[int]:
    answer = connection.request(MetadataRequest(topics=[]), MetadataResponse)
    return {each.node_id for each in answer.brokers}


@pytest.mark.parametrize("broker_id", [OURS, KAFKAS], ids=["ours", "kafkas"])
@pytest.mark.parametrize(("listener", "mechanism"), ALL_WAYS)
def test_javas_keys_are_a_way_in(
    both: Brokers, broker_id: int, listener: str, mechanism: str | None
) -> None:
    with closing(entered(both, broker_id, listener, mechanism)) as connection:
        assert ids(connection) == {OURS, KAFKAS}


@pytest.mark.parametrize("broker_id", [OURS, KAFKAS], ids=["ours", "kafkas"])
def test_a_token_of_the_programs_own_is_one(both: Brokers, broker_id: int) -> None:
    tokens = {"sasl_login_callback_handler_class": bearers_token}
    with closing(entered(both, broker_id, "OPEN", "OAUTHBEARER", **tokens)) as connection:
        assert ids(connection) == {OURS, KAFKAS}


@pytest.mark.parametrize("broker_id", [OURS, KAFKAS], ids=["ours", "kafkas"])
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512", "OAUTHBEARER"])
def test_who_is_unknown_is_told_and_does_not_hang(
    both: Brokers, broker_id: int, mechanism: str
) -> None:
    module = for_java(both, "OPEN", mechanism)["sasl.jaas.config"]
    other = module.replace("hush, alice", "a guess").replace("_sub=", "_nobody=")
    with pytest.raises(AuthenticationFailedError) as caught:
        entered(both, broker_id, "OPEN", mechanism, **{"sasl.jaas.config": other})
    assert "guess" not in str(caught.value)


@pytest.mark.parametrize("broker_id", [OURS, KAFKAS], ids=["ours", "kafkas"])
def test_a_consumer_that_is_unknown_is_told_so_when_it_asks_what_is_committed(
    both: Brokers, broker_id: int
) -> None:
    keys = for_java(both, "OPEN", "PLAIN")
    other = keys["sasl.jaas.config"].replace("hush, alice", "a guess")
    server = both.server("OPEN", broker_id)
    given = {"bootstrap.servers": server, **keys, "sasl.jaas.config": other}
    with Consumer(given, group_id="u") as consumer, pytest.raises(AuthenticationFailedError):
        consumer.committed([TopicPartition("t", 0)], PATIENCE_MS)


@pytest.mark.parametrize("broker_id", [OURS, KAFKAS], ids=["ours", "kafkas"])
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_a_connection_outlives_its_sessions(both: Brokers, broker_id: int, mechanism: str) -> None:
    """KIP-368: the broker ends those that do not log in anew."""
    with closing(entered(both, broker_id, "CLOSED", mechanism)) as connection:
        seen: set[int | None] = set()

        def sessions() -> int:
            assert ids(connection) == {OURS, KAFKAS}
            assert isinstance(connection.stage, Serving)
            seen.add(connection.stage.login_due_ms)
            return len(seen)

        wait_for("the third session", sessions, lambda count: count == 3)
        assert None not in seen
