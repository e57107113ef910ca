"""Groups and transactions on the command line; librdkafka's clients are who it tells of."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from logquake.cluster.api import Cluster
from tests.waiting import PATIENCE_S, wait_for


@pytest.fixture
def servers(cluster: Cluster) -> tuple[str, str]:
    return ("-b", cluster.bootstrap_servers)


@pytest.fixture
def group() -> str:
    return f"group-{uuid.uuid4().hex[:8]}"


def consumer(cluster: Cluster, group: str, **settings: object) -> Consumer:
    return Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": group, **settings})


@pytest.fixture
def orders(cluster: Cluster, topic: Callable[..., str], group: str) -> str:
    """Two partitions of 10 records each; the group has committed 4 in the first."""
    name = topic(partitions=2)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for number in range(20):
        producer.produce(name, b"v", partition=number % 2, timestamp=1_000 * (number // 2 + 1))
    producer.flush()
    with closing(consumer(cluster, group)) as commits:
        commits.commit(offsets=[TopicPartition(name, 0, 4)], asynchronous=False)
    return name


@pytest.fixture
def member(cluster: Cluster, orders: str, group: str) -> Iterator[Consumer]:
    """It has joined and has both partitions; of what it reads meanwhile it commits nothing."""
    settings = {"client.id": "reader", "enable.auto.commit": False}
    with closing(consumer(cluster, group, **settings)) as joined:
        joined.subscribe([orders])
        wait_for("an assignment", lambda: joined.poll(0.1) or joined.assignment(), bool)
        wait_for("both partitions", joined.assignment, lambda assigned: len(assigned) == 2)
        yield joined


def committed(cluster: Cluster, group: str, topic: str) -> list[int]:
    asked = [TopicPartition(topic, partition) for partition in (0, 1)]
    with closing(consumer(cluster, group)) as asks:
        found = asks.committed(asked, timeout=PATIENCE_S)
    return [each.offset for each in found]


def rows(table: str) -> list[list[str]]:
    return [line.split() for line in table.splitlines()]


def test_a_group_is_listed_and_described_with_its_lag(
    logquake: Any, servers: tuple[str, str], orders: str, group: str
) -> None:
    assert [group, "Empty"] in [row[:2] for row in rows(logquake.ok("group", "list", *servers))]
    said = logquake.ok("group", "describe", group, *servers)
    assert said.startswith(f"group {group}: Empty, 0 members")
    assert rows(said)[2] == [orders, "0", "4", "10", "6", "-", "-"]


@pytest.mark.usefixtures("member")
def test_members_are_shown_with_what_they_read(
    logquake: Any, servers: tuple[str, str], orders: str, group: str
) -> None:
    (found,) = json.loads(logquake.ok("group", "describe", group, "-o", "json", *servers))
    (member,) = found["members"]
    assert (found["state"], found["protocol_type"]) == ("Stable", "consumer")
    assert member["client_id"] == "reader"
    first = found["partitions"][0]
    assert (first["topic"], first["partition"], first["lag"]) == (orders, 0, 6)
    assert {one["member_id"] for one in found["partitions"]} == {member["member_id"]}


@pytest.mark.usefixtures("member", "orders")
def test_offsets_of_a_group_with_members_are_not_reset(
    logquake: Any, servers: tuple[str, str], group: str
) -> None:
    line = logquake.refused("group", "reset-offsets", group, "--to-earliest", "--execute", *servers)
    assert line == (
        f"logquake: group {group} has 1 member, who would go on where they are: "
        "stop them, then reset its offsets"
    )


def test_a_reset_is_shown_first_and_done_when_told(
    cluster: Cluster, logquake: Any, servers: tuple[str, str], orders: str, group: str
) -> None:
    wish = ("group", "reset-offsets", group, "--to-latest", *servers)
    assert rows(logquake.ok(*wish))[1:] == [[orders, "0", "4", "10"]]
    assert committed(cluster, group, orders) == [4, -1001]
    logquake.ok(*wish, "--execute")
    assert committed(cluster, group, orders) == [10, -1001]


@pytest.mark.parametrize(
    ("wish", "after"),
    [
        (("--to-earliest", "--topic"), [0, 0]),
        (("--to-offset", "7", "--topic"), [7, 7]),
        (("--to-datetime", "1970-01-01T00:00:06", "--topic"), [5, 5]),
        (("--by-duration", "1h", "--topic"), [10, 10]),
    ],
)
def test_a_whole_topic_is_reset(
    cluster: Cluster,
    logquake: Any,
    servers: tuple[str, str],
    orders: str,
    group: str,
    wish: tuple[str, ...],
    after: list[int],
) -> None:
    logquake.ok("group", "reset-offsets", group, *wish, orders, "--execute", *servers)
    assert committed(cluster, group, orders) == after


def test_one_partition_is_shifted(
    cluster: Cluster, logquake: Any, servers: tuple[str, str], orders: str, group: str
) -> None:
    wish = ("--shift-by", "-3", "--topic", f"{orders}:0", "--execute")
    logquake.ok("group", "reset-offsets", group, *wish, *servers)
    assert committed(cluster, group, orders) == [1, -1001]


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (("--to-earliest",), "has committed nothing: name a topic with --topic"),
        (("--to-earliest", "--topic", "no-such-topic"), "UNKNOWN_TOPIC_OR_PARTITION"),
    ],
)
def test_wishes_that_cannot_be(
    logquake: Any, servers: tuple[str, str], wish: tuple[str, ...], said: str
) -> None:
    assert said in logquake.refused("group", "reset-offsets", "nobody", *wish, *servers)


def test_a_partition_that_is_not_there(
    logquake: Any, servers: tuple[str, str], orders: str, group: str
) -> None:
    wish = ("--to-earliest", "--topic", f"{orders}:2")
    line = logquake.refused("group", "reset-offsets", group, *wish, *servers)
    assert line.endswith(f"{orders} has no partition '2': it has 2")


def test_a_group_is_deleted(
    logquake: Any, servers: tuple[str, str], orders: str, group: str
) -> None:
    logquake.ok("group", "delete", group, *servers)
    assert f"there is no group {group}" in logquake.refused("group", "describe", group, *servers)
    assert orders in logquake.ok("topic", "list", *servers)


@pytest.mark.usefixtures("member")
def test_status_tells_of_groups_and_open_transactions(
    cluster: Cluster, logquake: Any, orders: str, group: str
) -> None:
    producer = Producer(
        {"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": f"tx-{group}"}
    )
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    producer.produce(orders, b"v", partition=1)
    producer.flush()
    root = ("--data-dir", str(cluster.layout.root))
    status = json.loads(logquake.ok("status", "-o", "json", *root))
    assert (group, "Stable") in [(one["group_id"], one["state"]) for one in status["groups"]]
    (found,) = status["open_transactions"]
    assert (found["transactional_id"], found["state"]) == (f"tx-{group}", "Ongoing")
    assert found["partitions"] == [{"topic": orders, "partition": 1}]
    said = logquake.ok("status", *root)
    assert "transactions: 1 Ongoing" in said
    producer.abort_transaction(30)
