"""The older producer and SimpleConsumer, on a broker of ours and on Kafka's, beside 0.8.2.2's own:
they write and read the same, and are answered the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from logquake.client.classic.messages import KeyedMessage, Message, MessageAndOffset
from logquake.client.classic.offset_requests import Committed, KeptIn
from logquake.client.classic.producer import Producer
from logquake.client.classic.producing.hooks import CallbackHandler, Messages
from logquake.client.classic.requests import FetchFrom
from logquake.client.classic.serializer import StringEncoder
from logquake.client.classic.simple_consumer import SimpleConsumer
from logquake.client.classic.versions import Release
from logquake.client.clock import SystemClock
from logquake.client.errors import BrokerError
from logquake.cluster.api import Cluster
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    NO_TIMESTAMP,
    UNKNOWN_OFFSET,
)
from logquake.wire.topic_partition import TopicPartition
from tests.compat.classic_twins import PATIENCE_MS, RELEASE, ClassicTwin, classic_twins
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.old_releases import OldReleases
from tests.compat.sessions import LONG_MS
from tests.waiting import wait_for

pytestmark = [pytest.mark.maven, pytest.mark.slow]

PROGRAMS = Path(__file__).parent / "java" / "classic"
CODECS = ("none", "gzip", "snappy", "lz4")
LINES = [f"line {number}" for number in range(300)]
ALL = [(offset, line.encode()) for offset, line in enumerate(LINES)]
_numbers = itertools.count()

New = Callable[..., Producer]


@pytest.fixture(scope="module")
def twins(
    kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, ClassicTwin]]:
    folder = tmp_path_factory.mktemp("classic")
    with classic_twins(kafka_programs, cluster.zookeeper_connect, folder) as twins:
        yield twins


@pytest.fixture(params=["ours", "Kafka's"])
def twin(twins: dict[str, ClassicTwin], request: pytest.FixtureRequest) -> ClassicTwin:
    return twins[request.param]


@pytest.fixture
def topic(twin: ClassicTwin) -> str:
    return made(twin)


def made(twin: ClassicTwin, partitions: int = 1) -> str:
    name = f"classic-{next(_numbers)}"
    assert twin.create(name, partitions) == ("NONE", None)
    wait_for("topic", lambda: twin.topic(name).error_code, lambda code: code == 0)
    return name


@pytest.fixture
def new(twin: ClassicTwin) -> Iterator[New]:
    """Producers of texts, that are closed at the end."""
    made: list[Producer] = []

    def new(**keys: object) -> Producer:
        given: dict[str, object] = {
            "serializer.class": StringEncoder(),
            "request.required.acks": -1,
            "request.timeout.ms": PATIENCE_MS,
        }
        if "zk_connect" not in keys:
            given["broker.list"] = twin.servers
        made.append(Producer(given | {key.replace("_", "."): each for key, each in keys.items()}))
        return made[-1]

    yield new
    for each in made:
        each.close()


def written_by_old(old: OldReleases, twin: ClassicTwin, topic: str, codec: str) -> None:
    old.run(
        RELEASE,
        "kafka.tools.ConsoleProducer",
        *("--broker-list", twin.servers, "--topic", topic, "--compression-codec", codec),
        *("--request-required-acks", "-1"),
        stdin="".join(f"{line}\n" for line in LINES),
    )


def read_by_old(old: OldReleases, twin: ClassicTwin, topic: str) -> list[str]:
    said = old.run(
        RELEASE,
        "kafka.tools.SimpleConsumerShell",
        *("--broker-list", twin.servers, "--topic", topic, "--partition", "0"),
        *("--offset", "-2", "--max-messages", str(len(LINES)), "--no-wait-at-logend"),
    )
    return [line for line in said.splitlines() if line.startswith("line ")]


@pytest.mark.parametrize("codec", CODECS)
def test_it_writes_what_it_and_old_consumers_read(
    twin: ClassicTwin, topic: str, new: New, old: OldReleases, codec: str
) -> None:
    new(compression_codec=codec).send(*(KeyedMessage(topic, line) for line in LINES))
    assert twin.payloads(topic) == ALL
    assert read_by_old(old, twin, topic) == LINES


@pytest.mark.parametrize("codec", CODECS)
def test_it_reads_what_old_producers_write(
    twin: ClassicTwin, topic: str, old: OldReleases, codec: str
) -> None:
    written_by_old(old, twin, topic, codec)
    assert twin.payloads(topic) == ALL


def test_a_topic_that_is_not_there_is_made(twin: ClassicTwin, new: New) -> None:
    name = f"classic-{next(_numbers)}"
    new(message_send_max_retries=100).send(KeyedMessage(name, "first"))
    assert twin.payloads(name) == [(0, b"first")]


def test_keys_choose_partitions_as_javas_do(twin: ClassicTwin, new: New, old: OldReleases) -> None:
    keys = [*(f"key {number}" for number in range(50)), "", "polygenelubricants", "ключ", "🔑"]
    ours, theirs = made(twin, partitions=7), made(twin, partitions=7)
    new().send(*(KeyedMessage(ours, key, key=key) for key in keys))
    lines = "".join(f"{key}\n" for key in keys)
    old.run(RELEASE, str(PROGRAMS / "Keys.java"), twin.servers, theirs, stdin=lines)
    placed = [everything(twin, name, 7) for name in (ours, theirs)]
    assert placed[0] == placed[1]
    assert sum(map(len, placed[0])) == len(keys)


def everything(twin: ClassicTwin, topic: str, partitions: int) -> list[list[MessageAndOffset]]:
    """By partition."""
    with twin.consumer() as consumer:
        return [list(consumer.fetch(topic, each, 0).messages) for each in range(partitions)]


def test_a_partitions_key_is_not_stored(twin: ClassicTwin, new: New) -> None:
    name = made(twin, partitions=3)
    new().send(KeyedMessage(name, "a", key="key", part_key=2), KeyedMessage(name, "b", part_key=2))
    found = [each.message for each in everything(twin, name, 3)[2]]
    assert found == [Message(b"a", b"key"), Message(b"b", None)]


def test_brokers_are_found_in_zookeeper(twin: ClassicTwin, new: New) -> None:
    """zk.connect; a topic that is not there is made, too."""
    name = f"classic-{next(_numbers)}"
    keys = {"zk_connect": twin.zookeeper, "zk_sessiontimeout_ms": LONG_MS}
    with new(num_retries=100, **keys) as producer:
        producer.send(KeyedMessage(name, "a"), KeyedMessage(name, "b", key="k"))
    assert sorted(twin.payloads(name)) == [(0, b"a"), (1, b"b")]


def test_messages_have_times_since_0_10(twin: ClassicTwin, topic: str) -> None:
    """Who asks as 0.8.2 does is not told; who asks later is, and gets what does not fit."""
    keys = {"broker.list": twin.servers, "request.required.acks": -1, "compression.codec": "gzip"}
    began_ms = SystemClock().wall_ms()
    with Producer(keys, release=Release.V0_10, request_timeout_ms=PATIENCE_MS) as producer:
        producer.send(KeyedMessage(topic, b"x" * 1000), KeyedMessage(topic, b"y"))
    ended_ms = SystemClock().wall_ms()
    with (
        SimpleConsumer("127.0.0.1", twin.port, PATIENCE_MS, release=Release.V0_10) as later,
        twin.consumer() as older,
    ):
        found = [each.message for each in later.fetch(topic, 0, 0, 10).messages]
        untimed = [each.message for each in older.fetch(topic, 0, 0).messages]
    assert [each.payload for each in found] == [each.payload for each in untimed]
    assert {each.timestamp_ms for each in untimed} == {NO_TIMESTAMP}
    assert all(began_ms <= each.timestamp_ms <= ended_ms for each in found)


@pytest.mark.parametrize("acks", [0, 1])
def test_fewer_acks(twin: ClassicTwin, topic: str, new: New, acks: int) -> None:
    new(request_required_acks=acks).send(KeyedMessage(topic, "m"))
    wait_for("message", lambda: ends(twin, topic), lambda found: found[0] == 1)
    assert twin.payloads(topic) == [(0, b"m")]


class Numbering(CallbackHandler):
    """Says how large each batch is, and that nothing follows."""

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self.sizes: list[int] = []

    def before_sending_data(self, messages: Messages) -> Messages:
        self.sizes.append(len(messages))
        return messages

    def last_batch_before_close(self) -> Messages:
        return [KeyedMessage(self._topic, "the end")]


def test_a_queue_is_sent_in_batches(twin: ClassicTwin, topic: str, new: New) -> None:
    hooks = Numbering(topic)
    producer = new(producer_type="async", batch_size=100, queue_time=60_000, callback_handler=hooks)
    for line in LINES:
        producer.send(KeyedMessage(topic, line))
    assert producer.close()
    assert twin.payloads(topic) == [*ALL, (len(ALL), b"the end")]
    assert hooks.sizes == [100, 100, 100, 1]


def test_a_batch_is_sent_when_its_time_is_over(twin: ClassicTwin, topic: str, new: New) -> None:
    new(producer_type="async", queue_time=50).send(KeyedMessage(topic, "m"))
    wait_for("message", lambda: ends(twin, topic), lambda found: found[0] == 1)


def ends(twin: ClassicTwin, topic: str) -> list[int]:
    with twin.consumer() as consumer:
        return consumer.get_offsets_before(topic, 0, LATEST_TIMESTAMP, 5)


def test_offsets_before_a_time(twin: ClassicTwin, topic: str, new: New) -> None:
    new().send(*(KeyedMessage(topic, line) for line in LINES[:7]))
    with twin.consumer() as consumer:
        assert consumer.get_offsets_before(topic, 0, LATEST_TIMESTAMP, 10) == [7, 0]
        assert consumer.get_offsets_before(topic, 0, EARLIEST_TIMESTAMP, 10) == [0]
        assert consumer.earliest_or_latest_offset(topic, 0, LATEST_TIMESTAMP) == 7
        with pytest.raises(BrokerError) as refused:
            consumer.get_offsets_before("nowhere", 0, LATEST_TIMESTAMP, 1)
    assert refused.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_multifetch_reads_several_partitions(twin: ClassicTwin, new: New) -> None:
    name = made(twin, partitions=2)
    new().send(*(KeyedMessage(name, f"m{each}", part_key=each) for each in range(6)))
    first, second, missing = (TopicPartition(name, each) for each in (0, 1, 9))
    with twin.consumer() as consumer:
        fetched = consumer.multifetch(
            {first: FetchFrom(1, 1000), second: FetchFrom(9, 1000), missing: FetchFrom(0, 1000)}
        )
    assert [each.message.payload for each in fetched[first].messages if each.offset] == [
        b"m2",
        b"m4",
    ]
    assert fetched[first].high_watermark == 3
    codes = [ErrorCode(fetched[place].error_code) for place in (second, missing)]
    assert codes == [ErrorCode.OFFSET_OUT_OF_RANGE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


def test_a_message_that_is_larger_than_the_fetch(twin: ClassicTwin, topic: str, new: New) -> None:
    """A batch of today's is converted whole, or not at all."""
    new().send(KeyedMessage(topic, "x" * 1000))
    with twin.consumer() as consumer:
        cut = consumer.fetch(topic, 0, 0, 100).messages
        whole = consumer.fetch(topic, 0, 0, 10_000).messages
    assert (cut.size_in_bytes, cut.next_offset, list(cut)) == (0, None, [])
    assert (whole.valid_bytes > 1000, whole.next_offset) == (True, 1)


@pytest.mark.parametrize("kept_in", KeptIn)
def test_offsets_of_a_group(twin: ClassicTwin, topic: str, kept_in: KeptIn) -> None:
    group, place = f"group-of-{topic}", TopicPartition(topic, 0)
    twin.find_coordinator(group)
    with twin.consumer() as consumer:
        assert consumer.commit_offsets(group, {place: 5}, kept_in) == {place: 0}
        assert consumer.fetch_offsets(group, [place], kept_in) == {place: Committed(5, 0)}
        other = KeptIn(1 - kept_in)
        nothing = consumer.fetch_offsets(group, [place], other)[place]
    assert nothing.offset == UNKNOWN_OFFSET
    if kept_in is KeptIn.ZOOKEEPER:
        assert twin.znode(f"/consumers/{group}/offsets/{topic}/0") == b"5"


def test_metadata_of_all_topics(twin: ClassicTwin, topic: str) -> None:
    with twin.consumer() as consumer:
        told: dict[str, Any] = {each.topic: each for each in consumer.topic_metadata()}
    (partition,) = told[topic].partitions
    assert partition.leader.address == ("127.0.0.1", twin.port)
