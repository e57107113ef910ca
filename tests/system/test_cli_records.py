"""``produce`` and ``consume``, with librdkafka's clients on the other side."""

from __future__ import annotations

import json
import signal
import subprocess
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition

from logquake.cluster.api import Cluster
from tests.system.conftest import PROGRAM
from tests.waiting import PATIENCE_S, wait_for


@pytest.fixture
def servers(cluster: Cluster) -> tuple[str, str]:
    return ("-b", cluster.bootstrap_servers)


@pytest.fixture
def group() -> str:
    return f"group-{uuid.uuid4().hex[:8]}"


def read(cluster: Cluster, topic: str, partitions: int, count: int) -> list[Message]:
    """So many records, in the order of partitions and offsets."""
    settings = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "reader"}
    with closing(Consumer(settings)) as consumer:
        consumer.assign([TopicPartition(topic, partition, 0) for partition in range(partitions)])
        found = consumer.consume(count, PATIENCE_S)
    assert [each.error() for each in found] == [None] * count
    return sorted(found, key=lambda each: (each.partition(), each.offset()))


def write(cluster: Cluster, topic: str, values: list[str], partition: int = 0) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for number, value in enumerate(values):
        producer.produce(topic, value, partition=partition, timestamp=1_000 * (number + 1))
    assert producer.flush(PATIENCE_S) == 0


@contextmanager
def program(logquake: Any, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """One that is typed to and read from; it ends with the block, if it did not before."""
    with subprocess.Popen(
        [PROGRAM, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=logquake.environment(),
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_each_line_becomes_a_record_with_its_key_and_headers(
    cluster: Cluster, logquake: Any, topic: Callable[..., str], servers: tuple[str, str]
) -> None:
    name = topic(partitions=3)
    wishes = ("-K", ":", "-H", "source=test", "-z", "lz4", "--idempotent")
    done = logquake.run("produce", name, *wishes, *servers, typed="a:1\nb:2\na:3\nlast")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"4 records written to {name}\n"
    found = read(cluster, name, 3, 4)
    keyed = {(each.key(), each.value()) for each in found}
    assert keyed == {(b"a", b"1"), (b"a", b"3"), (b"b", b"2"), (None, b"last")}
    assert len({each.partition() for each in found if each.key() == b"a"}) == 1
    assert {tuple(each.headers() or ()) for each in found} == {(("source", b"test"),)}


def test_many_records_come_and_go_as_they_were(
    logquake: Any, topic: Callable[..., str], servers: tuple[str, str]
) -> None:
    name = topic(partitions=1)
    typed = "".join(f"{number} {'x' * 300}\n" for number in range(5_000))
    logquake.ok("produce", name, "-p", "0", "-q", *servers, typed=typed)
    assert logquake.ok("consume", name, "-e", *servers) == typed


WISHES = {
    ("-o", "beginning"): "abcde",
    ("-o", "3"): "de",
    ("-o", "-2"): "de",
    ("-o", "@1970-01-01T00:00:02"): "bcde",
    ("-o", "end"): "",
    ("-c", "2"): "ab",
    ("-o", "1", "-n", "1"): "b",
}


def test_where_to_begin_and_how_many(
    cluster: Cluster, logquake: Any, topic: Callable[..., str], servers: tuple[str, str]
) -> None:
    name = topic(partitions=1)
    write(cluster, name, list("abcde"))
    consume = ("consume", name, "-e", "-f", "%s", *servers)
    assert {wish: logquake.ok(*consume, *wish) for wish in WISHES} == WISHES


def test_json_and_formats_say_where_a_record_was(
    cluster: Cluster, logquake: Any, topic: Callable[..., str], servers: tuple[str, str]
) -> None:
    name = topic(partitions=2)
    write(cluster, name, ["only"], partition=1)
    (line,) = logquake.ok("consume", name, "-e", "-J", *servers).splitlines()
    assert json.loads(line) == {
        "topic": name,
        "partition": 1,
        "offset": 0,
        "ts": 1000,
        "key": None,
        "payload": "only",
    }
    said = logquake.ok("consume", name, "-e", "-p", "1", "-f", "%t-%p@%o %K\\n", *servers)
    assert said == f"{name}-1@0 -1\n"


def test_readers_of_committed_records_see_no_others(
    cluster: Cluster, logquake: Any, topic: Callable[..., str], servers: tuple[str, str]
) -> None:
    name = topic(partitions=1)
    producer = Producer(
        {"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": f"tx-{name}"}
    )
    producer.init_transactions(PATIENCE_S)
    for value, commits in (("kept", True), ("dropped", False)):
        producer.begin_transaction()
        producer.produce(name, value)
        assert producer.flush(PATIENCE_S) == 0  # what is not sent when it aborts, never is
        if commits:
            producer.commit_transaction(PATIENCE_S)
        else:
            producer.abort_transaction(PATIENCE_S)
    assert logquake.ok("consume", name, "-e", *servers) == "kept\ndropped\n"
    assert logquake.ok("consume", name, "-e", "--read-committed", *servers) == "kept\n"


def test_a_group_goes_on_where_it_was(
    cluster: Cluster,
    logquake: Any,
    topic: Callable[..., str],
    servers: tuple[str, str],
    group: str,
) -> None:
    name = topic(partitions=2)
    write(cluster, name, list("abc"))
    wishes = ("-g", group, "-e", "-f", "%s", *servers)
    assert logquake.ok("consume", name, "-c", "2", *wishes) == "ab"
    write(cluster, name, ["d"], partition=1)
    assert sorted(logquake.ok("consume", name, *wishes)) == ["c", "d"]
    assert logquake.ok("consume", name, *wishes) == ""
    said = logquake.ok("group", "describe", group, *servers)
    assert said.startswith(f"group {group}: Empty, 0 members")


def test_it_shares_a_group_with_another_client_and_leaves_it_at_ctrl_c(
    cluster: Cluster,
    logquake: Any,
    topic: Callable[..., str],
    servers: tuple[str, str],
    group: str,
) -> None:
    name = topic(partitions=2)
    other = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": group,
            "partition.assignment.strategy": "range",
            "heartbeat.interval.ms": 500,
        }
    )
    other.subscribe([name])

    def assigned() -> int:
        other.poll(0.1)
        return len(other.assignment())

    wait_for("all partitions", assigned, lambda count: count == 2)
    reading = logquake.start("consume", name, "-g", group, *servers)
    wait_for("one of two partitions", assigned, lambda count: count == 1)
    (held,) = other.assignment()
    write(cluster, name, ["mine"], partition=1 - held.partition)
    assert [reading.stdout.readline() for _ in range(2)][1] == "mine\n"
    read = [TopicPartition(name, 1 - held.partition)]
    # A signal between the line and its commit leaves the record to be read again.
    wait_for(
        "a commit of it",
        lambda: other.committed(read, timeout=PATIENCE_S)[0].offset,
        lambda offset: offset == 1,
    )
    reading.send_signal(signal.SIGINT)
    assert reading.wait(PATIENCE_S) == 0
    assert reading.stdout.read() == f"1 record read from {name}\n"
    reading.stdout.close()
    wait_for("all partitions again", assigned, lambda count: count == 2)
    other.close()


def test_a_reader_that_goes_away_is_no_error(
    logquake: Any, topic: Callable[..., str], servers: tuple[str, str]
) -> None:
    name = topic(partitions=1)
    logquake.ok("produce", name, "-q", *servers, typed=("x" * 500 + "\n") * 3_000)
    with program(logquake, "consume", name, *servers) as reading:
        assert reading.stdout is not None
        assert reading.stderr is not None
        assert reading.stdout.readline() == b"x" * 500 + b"\n"
        reading.stdout.close()
        assert reading.wait(PATIENCE_S) == 0
        assert b"records read from" in reading.stderr.read()


@pytest.mark.parametrize("command", ["produce", "consume"])
def test_a_topic_that_is_not_there(logquake: Any, servers: tuple[str, str], command: str) -> None:
    line = logquake.refused(command, "no-such-topic", *servers)
    assert line == "logquake: UNKNOWN_TOPIC_OR_PARTITION: topic no-such-topic"


def test_a_partition_that_is_not_there(
    logquake: Any, topic: Callable[..., str], servers: tuple[str, str]
) -> None:
    name = topic(partitions=2)
    for command in ("produce", "consume"):
        line = logquake.refused(command, name, "-p", "2", *servers)
        assert line.endswith(f"{name} has no partition 2: it has 2")


def test_what_is_refused_ends_with_how_much_was_written(
    logquake: Any, topic: Callable[..., str], servers: tuple[str, str]
) -> None:
    name = topic(partitions=1, max_message_bytes=1000)
    done = logquake.run("produce", name, *servers, typed="x" * 2000)
    assert done.returncode == 2
    written, error = done.stderr.splitlines()
    assert written == f"0 records written to {name}"
    assert error.startswith("logquake: MESSAGE_TOO_LARGE")


def test_typed_lines_are_sent_as_they_come(
    cluster: Cluster, logquake: Any, topic: Callable[..., str], servers: tuple[str, str]
) -> None:
    name = topic(partitions=1)
    with program(logquake, "produce", name, *servers) as typing:
        assert typing.stdin is not None
        for number, line in enumerate((b"first", b"second"), start=1):
            typing.stdin.write(line + b"\n")
            typing.stdin.flush()
            assert read(cluster, name, 1, number)[-1].value() == line
        typing.send_signal(signal.SIGINT)
        _, said = typing.communicate(timeout=PATIENCE_S)
    assert typing.returncode == 130
    # The second one may be read before the producer hears of it.
    assert said in (f"{count} written to {name}\n".encode() for count in ("1 record", "2 records"))
