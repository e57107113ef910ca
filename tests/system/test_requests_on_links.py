"""One API's requests, or their answers, hurt on their way: what clients and brokers make of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from logquake.client.admin import NewTopic
from logquake.client.connection import connect_to_one
from logquake.client.network.settings import NetworkSettings
from logquake.client.settings import Address
from logquake.cluster.api import Cluster
from logquake.cluster.errors import ClusterError, WaitTimeoutError
from logquake.cluster.running.cluster import RunningCluster
from logquake.cluster.state import broker_name
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from tests.compat.adapters.librdkafka import TOLD_OF_ENDS
from tests.system.conftest import CommandLine
from tests.waiting import PATIENCE_S, wait_for

LATE_MS = 500
GIVES_UP_MS = 5_000  # on an answer that will not come, and on none that a starved broker gives


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCluster]:
    with Cluster(brokers=3, links=True, data_dir=tmp_path_factory.mktemp("cluster") / "it") as it:
        yield it


@pytest.fixture
def topic(kafka: RunningCluster, request: pytest.FixtureRequest) -> str:
    name = str(request.node.name).translate(str.maketrans("[]", "--")).strip("-")[-80:]
    # Who leads it knows so when all tell of it, and refuses nothing.
    return kafka.create_topic(name, partitions=1, replication_factor=3)


def producer(kafka: RunningCluster, **settings: Any) -> Producer:
    return Producer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "acks": "all",
            "retry.backoff.ms": 10,
            "log_level": 0,
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
    )


def send(producer: Producer, topic: str, *values: bytes) -> list[int]:
    """The offsets at which they were acked."""
    offsets: list[int] = []

    def delivered(error: Any, message: Any) -> None:
        assert error is None, error
        offsets.append(message.offset())

    for value in values:
        producer.produce(topic, value, on_delivery=delivered)
    assert producer.flush(PATIENCE_S) == 0
    return offsets


def read(kafka: RunningCluster, topic: str, isolation: str = "read_uncommitted") -> list[bytes]:
    """All there is, to the end."""
    consumer = Consumer(
        {
            **TOLD_OF_ENDS,
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": f"reader of {topic}",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "isolation.level": isolation,
        }
    )
    consumer.subscribe([topic])
    found: list[bytes] = []
    try:
        while (message := consumer.poll(PATIENCE_S)) is not None and not message.error():
            found.append(message.value() or b"")
        assert message is not None
    finally:
        consumer.close()
    return found


def wait_until_read(
    kafka: RunningCluster, topic: str, *values: bytes, isolation: str = "read_uncommitted"
) -> None:
    """What followers, or a transaction's markers, bring a moment after the answer."""
    wait_for(
        f"{values} in {topic}", lambda: read(kafka, topic, isolation), lambda it: it == [*values]
    )


def test_produce_fails_three_times_and_the_client_retries(
    kafka: RunningCluster, topic: str
) -> None:
    with kafka.inject(
        "Produce", error="NOT_LEADER_OR_FOLLOWER", times=3, source="clients"
    ) as fault:
        assert send(producer(kafka), topic, b"once") == [0]
        assert fault.wait(times=3) == 3
        (held,) = kafka.link_faults()
        assert held["hits"] == 3
    assert kafka.link_faults() == []
    assert read(kafka, topic) == [b"once"]


@pytest.mark.parametrize(("idempotent", "copies"), [(False, 2), (True, 1)])
def test_a_lost_answer_to_a_produce_is_a_duplicate_without_idempotence(
    kafka: RunningCluster, topic: str, idempotent: bool, copies: int
) -> None:
    """The client gives up on the silent connection, and sends again on another."""
    sender = producer(
        kafka,
        enable_idempotence=idempotent,
        request_timeout_ms=GIVES_UP_MS,
        socket_timeout_ms=GIVES_UP_MS,
    )
    with kafka.inject("Produce", drop="response", times=1, source="clients") as fault:
        assert send(sender, topic, b"again") == [copies - 1]
        assert fault.wait() == 1
    assert read(kafka, topic) == [b"again"] * copies


@pytest.mark.parametrize(("idempotent", "copies"), [(False, 2), (True, 1)])
def test_a_reset_in_place_of_an_answer_has_the_client_send_again(
    kafka: RunningCluster, topic: str, idempotent: bool, copies: int
) -> None:
    sender = producer(kafka, enable_idempotence=idempotent)
    with kafka.inject("Produce", close="response", times=1, source="clients"):
        send(sender, topic, b"again")
    assert read(kafka, topic) == [b"again"] * copies


@pytest.mark.parametrize(("idempotent", "copies"), [(False, 2), (True, 1)])
def test_a_request_that_comes_twice_is_told_apart_by_idempotence(
    kafka: RunningCluster, topic: str, idempotent: bool, copies: int
) -> None:
    sender = producer(kafka, enable_idempotence=idempotent)
    with kafka.inject("Produce", duplicate=True, times=1, source="clients"):
        assert send(sender, topic, b"twice") == [0]
    assert read(kafka, topic) == [b"twice"] * copies


def test_a_request_that_is_overtaken_changes_the_order(kafka: RunningCluster, topic: str) -> None:
    """Of a producer with several requests in flight, and without idempotence."""
    values = [b"%d" % number for number in range(10)]
    sender = producer(kafka, linger_ms=0, batch_num_messages=1)
    with kafka.inject("Produce", reorder=True, times=1, source="clients") as fault:
        send(sender, topic, *values)
        assert fault.wait() == 1
    found = read(kafka, topic)
    assert sorted(found) == values
    assert found != values


def test_a_commit_that_is_held_is_not_seen_until_it_arrives(
    kafka: RunningCluster, topic: str
) -> None:
    sender = producer(kafka, transactional_id=f"of {topic}")
    sender.init_transactions(PATIENCE_S)
    sender.begin_transaction()
    with kafka.hold("EndTxn", source="clients") as held:
        send(sender, topic, b"in it")
        commit = threading.Thread(target=sender.commit_transaction, args=(PATIENCE_S,))
        commit.start()
        held.wait()
        assert read(kafka, topic) == [b"in it"]
        assert read(kafka, topic, "read_committed") == []
    commit.join(PATIENCE_S)
    assert not commit.is_alive()
    wait_until_read(kafka, topic, b"in it", isolation="read_committed")


def test_an_end_that_is_late_ends_the_transaction_all_the_same(
    kafka: RunningCluster, topic: str
) -> None:
    sender = producer(kafka, transactional_id=f"of {topic}")
    sender.init_transactions(PATIENCE_S)
    sender.begin_transaction()
    with kafka.inject("EndTxn", delay_ms=LATE_MS, source="clients") as fault:
        send(sender, topic, b"in it")
        sender.commit_transaction(PATIENCE_S)
        assert fault.wait() >= 1
    wait_until_read(kafka, topic, b"in it", isolation="read_committed")


def test_a_commit_that_comes_after_its_retry_decides_the_next_transaction(
    kafka: RunningCluster, topic: str
) -> None:
    """KAFKA-17754: its client gave up on it, yet it is under way; nothing tells it apart."""
    sender = producer(kafka, transactional_id=f"of {topic}", socket_timeout_ms=GIVES_UP_MS)
    sender.init_transactions(PATIENCE_S)
    sender.begin_transaction()
    send(sender, topic, b"decided")
    with kafka.hold("EndTxn", source="clients"):
        sender.commit_transaction(PATIENCE_S)
        sender.begin_transaction()
        send(sender, topic, b"undecided")
        assert read(kafka, topic, "read_committed") == [b"decided"]
    wait_for(
        "commit of what nobody decided",
        lambda: read(kafka, topic, "read_committed"),
        lambda found: found == [b"decided", b"undecided"],
    )


def test_a_broker_leads_before_it_knows_what_to_tell_clients(kafka: RunningCluster) -> None:
    """Between the controller's LeaderAndIsr and its UpdateMetadata."""
    name = "between"
    slow = next(broker_id for broker_id in (1, 2, 3) if broker_id != kafka.controller())
    with (
        kafka.notice("LeaderAndIsr", of="response", source="controller", target=slow) as led,
        kafka.hold("UpdateMetadata", source="controller", target=slow) as held,
    ):
        wanted = NewTopic(name, replicas_assignments={0: [slow]})
        with kafka.admin(PATIENCE_S) as admin:
            admin.create_topics([wanted])[name].result()
        held.wait()
        assert led.wait() == 1
        assert kafka.leader(name, 0) == slow
        assert not knows(kafka, slow, name)
    wait_for("the topic", lambda: knows(kafka, slow, name))


def knows(kafka: RunningCluster, broker_id: int, topic: str) -> bool:
    """Whether a broker tells clients of a topic."""
    member = kafka.state().member(broker_name(broker_id))
    assert member is not None
    address = Address(member.host, member.port)
    settings = NetworkSettings()
    asked = MetadataRequest(
        topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False
    )
    connection = connect_to_one(address, settings, kafka.way_in)
    try:
        (answer,) = connection.request(asked, MetadataResponse).topics
    finally:
        connection.close()
    return answer.error_code == ErrorCode.NONE


def test_the_next_fetch_of_a_follower_is_told_of(kafka: RunningCluster, topic: str) -> None:
    leader = kafka.leader(topic, 0)
    follower = next(id for id in kafka.isr(topic, 0) if id != leader)
    with kafka.notice("Fetch", source=follower, target=leader) as fetched:
        fetched.wait()
    with kafka.hold("Fetch", of="response", source=follower, target=leader) as held:
        held.wait()
        assert send(producer(kafka, acks=1), topic, b"after the append, before the fetch") == [0]
    wait_until_read(kafka, topic, b"after the append, before the fetch")


def test_what_makes_no_sense_is_refused(kafka: RunningCluster) -> None:
    with pytest.raises(ClusterError, match="'Produc' is no API of Kafka's: write Produce, Fetch"):
        kafka.inject("Produc", duplicate=True)
    with pytest.raises(ClusterError, match="say one of error, delay_ms"):
        kafka.inject("Produce", duplicate=True, reorder=True)
    with pytest.raises(ClusterError, match="no requests that can be read go broker-1 -> clients"):
        kafka.inject("Produce", duplicate=True, source=1, target="clients")
    with pytest.raises(ClusterError, match="no link ends at broker-9"):
        kafka.inject("Produce", duplicate=True, target="broker-9")
    with pytest.raises(ClusterError, match="'NONE' is no error of Kafka's"):
        kafka.inject("Produce", error="NONE")
    assert kafka.link_faults() == []


def test_a_wait_for_what_does_not_come_says_so(kafka: RunningCluster) -> None:
    told = pytest.raises(WaitTimeoutError, match="DescribeAcls request held: anyone -> anyone")
    with kafka.hold("DescribeAcls") as held, told:
        held.wait(timeout=0.01)


def test_the_command_line_fails_requests(
    kafka: RunningCluster, topic: str, logquake: CommandLine
) -> None:
    here = "--data-dir", str(kafka.layout.root)
    errors = ("error", "Produce", "NOT_LEADER_OR_FOLLOWER", "--times", "3", "--from", "clients")
    told = logquake.ok("fault", *errors, *here)
    assert "holds; heal it with logquake fault heal" in told
    assert send(producer(kafka), topic, b"once") == [0]
    shown = logquake.ok("fault", "list", *here)
    assert "Produce fails with NOT_LEADER_OR_FOLLOWER: clients -> anyone, 3 times; met 3" in shown
    logquake.ok("fault", "request", "Fetch", "--delay-ms", "1", "--of", "response", *here)
    assert logquake.ok("fault", "heal", *here) == "healed 2\n"
    refused = logquake.refused("fault", "request", "Fetch", "--drop", "both", *here)
    assert refused == "logquake: 'both': request or response"


def test_without_links_it_is_said_how_to_have_them(tmp_path: Path, logquake: CommandLine) -> None:
    refused = logquake.refused("fault", "request", "Fetch", "--hold", "--data-dir", str(tmp_path))
    assert "logquake up" in refused or "--links" in refused
