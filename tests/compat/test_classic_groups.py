"""Groups of the older consumer, which ZooKeeper coordinates, on a broker of ours and on Kafka's:
members of ours and of 0.8.2.2 share partitions, read all, and go on where the others were.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kazoo.client import KazooClient

from logquake.client.classic.consumer_connector import ConsumerConnector
from logquake.client.classic.errors import ConsumerTimeoutError, StreamsExistError
from logquake.client.classic.messages import KeyedMessage
from logquake.client.classic.offset_requests import KeptIn
from logquake.client.classic.producer import Producer
from logquake.client.classic.serializer import StringEncoder
from logquake.client.classic.versions import Release
from logquake.cluster.api import Cluster
from logquake.wire.topic_partition import TopicPartition
from tests.compat.classic_groups import GroupNodes, Member, keys_of, our_member, their_member
from tests.compat.classic_twins import PATIENCE_MS, ClassicTwin, classic_twins
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.old_releases import OldReleases
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.maven, pytest.mark.slow]

PARTITIONS = 4
_numbers = itertools.count()


@pytest.fixture(scope="module")
def twins(
    kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, ClassicTwin]]:
    folder = tmp_path_factory.mktemp("classic-groups")
    with classic_twins(kafka_programs, cluster.zookeeper_connect, folder) as twins:
        yield twins


@pytest.fixture(params=["ours", "Kafka's"])
def twin(twins: dict[str, ClassicTwin], request: pytest.FixtureRequest) -> ClassicTwin:
    return twins[request.param]


@pytest.fixture
def topic(twin: ClassicTwin) -> str:
    return made(twin, f"shared-{next(_numbers)}")


def made(twin: ClassicTwin, name: str) -> str:
    assert twin.create(name, PARTITIONS) == ("NONE", None)
    wait_for("topic", lambda: twin.topic(name).error_code, lambda code: code == 0)
    return name


@contextmanager
def znodes_of(twin: ClassicTwin) -> Iterator[KazooClient]:
    client = KazooClient(twin.zookeeper)
    client.start(PATIENCE_S)
    try:
        yield client
    finally:
        client.stop()
        client.close()


@pytest.fixture
def znodes(twin: ClassicTwin) -> Iterator[KazooClient]:
    with znodes_of(twin) as client:
        yield client


def write(twin: ClassicTwin, topic: str, texts: Iterable[str]) -> None:
    """One to each partition, in turn."""
    keys: dict[str, object] = {
        "broker.list": twin.servers,
        "serializer.class": StringEncoder(),
        "request.required.acks": -1,
        "request.timeout.ms": PATIENCE_MS,
    }
    with Producer(keys) as producer:
        producer.send(
            *(KeyedMessage(topic, text, part_key=turn) for turn, text in enumerate(texts))
        )


def texts_of(*members: Member) -> list[str]:
    return sorted(text for member in members for _, _, text in member.taken())


def wait_for_texts(texts: Iterable[str], *members: Member) -> None:
    wanted = sorted(texts)
    wait_for("messages", lambda: texts_of(*members), lambda found: found == wanted)


@pytest.mark.parametrize(
    ("twin", "strategy"), [("ours", "range"), ("Kafka's", "roundrobin")], indirect=["twin"]
)
def test_members_of_both_kinds_share_a_topic(
    twin: ClassicTwin,
    topic: str,
    znodes: KazooClient,
    old: OldReleases,
    tmp_path: Path,
    strategy: str,
) -> None:
    group = f"group-{topic}"
    nodes = GroupNodes(znodes, group)
    keys = keys_of(twin.zookeeper, group, partition_assignment_strategy=strategy)
    with our_member(keys, topic, streams=2) as ours:
        assert ours.connector.owned() == [TopicPartition(topic, each) for each in range(PARTITIONS)]
        with their_member(old, tmp_path, keys, topic, streams=2) as theirs:
            owners = nodes.wait_for_owners(PARTITIONS, ours, theirs)
            assert set(owners.values()) == {
                f"{member.id}-{stream}" for member in (ours, theirs) for stream in (0, 1)
            }
            assert nodes.registration(ours.id) == nodes.registration(theirs.id)
            write(twin, topic, map(str, range(40)))
            wait_for_texts(map(str, range(40)), ours, theirs)
            for member in (ours, theirs):
                places = {place for place, _, _ in member.taken()}
                assert places == {
                    place for place, owner in owners.items() if owner.startswith(member.id)
                }
        nodes.wait_for_owners(PARTITIONS, ours)
        write(twin, topic, map(str, range(40, 60)))
        wait_for_texts(map(str, range(60)), ours, theirs)
    assert set(nodes.offsets().values()) == {15}
    assert nodes.owners() == {}


def test_members_of_later_releases_share_it_too(
    twins: dict[str, ClassicTwin], old: OldReleases, tmp_path: Path
) -> None:
    """Scala's consumer was there until 1.1; it asks in later versions, the nodes are the same."""
    twin = twins["ours"]
    topic = made(twin, f"shared-{next(_numbers)}")
    keys = keys_of(twin.zookeeper, f"group-{topic}")
    with (
        our_member(keys, topic) as ours,
        their_member(old, tmp_path, keys, topic, name="0.9", release="0.9.0.1") as older,
        their_member(old, tmp_path, keys, topic, name="0.10", release="0.10.2.2") as newer,
        znodes_of(twin) as client,
    ):
        nodes = GroupNodes(client, f"group-{topic}")
        nodes.wait_for_owners(PARTITIONS, ours, older, newer)
        assert nodes.registration(newer.id) == nodes.registration(ours.id)
        write(twin, topic, map(str, range(40)))
        wait_for_texts(map(str, range(40)), ours, older, newer)


@pytest.mark.parametrize(
    ("twin", "kind"), [("ours", "white_list"), ("Kafka's", "black_list")], indirect=["twin"]
)
def test_topics_that_appear_later_are_read(
    twin: ClassicTwin, znodes: KazooClient, old: OldReleases, tmp_path: Path, kind: str
) -> None:
    number = next(_numbers)
    group, first, later, other = (
        f"{word}-{number}" for word in ("group", "first", "later", "other")
    )
    made(twin, first)
    everything_else = f"(?!(first|later)-{number}$).*"
    topics = f"first-{number},later-{number}" if kind == "white_list" else everything_else
    nodes = GroupNodes(znodes, group)
    keys = keys_of(twin.zookeeper, group)
    with (
        our_member(keys, topics, kind=kind) as ours,
        their_member(old, tmp_path, keys, topics, kind=kind) as theirs,
    ):
        nodes.wait_for_owners(PARTITIONS, ours, theirs)
        assert nodes.registration(ours.id) == nodes.registration(theirs.id)
        made(twin, other)
        made(twin, later)
        nodes.wait_for_owners(2 * PARTITIONS, ours, theirs)
        for topic in (first, later, other):
            write(twin, topic, (f"{topic} {each}" for each in range(8)))
        wanted = [f"{topic} {each}" for topic in (first, later) for each in range(8)]
        wait_for_texts(wanted, ours, theirs)


@pytest.mark.parametrize(
    ("twin", "storage"), [("ours", "kafka"), ("Kafka's", "zookeeper")], indirect=["twin"]
)
def test_each_goes_on_where_the_other_was(
    twin: ClassicTwin,
    topic: str,
    znodes: KazooClient,
    old: OldReleases,
    tmp_path: Path,
    storage: str,
) -> None:
    group = f"group-{topic}"
    keys = keys_of(twin.zookeeper, group, offsets_storage=storage, dual_commit_enabled="false")
    nodes = GroupNodes(znodes, group)
    begun: list[str] = []
    for turn in range(3):
        texts = [f"{turn}-{each}" for each in range(20)]
        write(twin, topic, texts)
        begun += texts
        if turn % 2:
            with our_member(keys, topic) as ours:
                wait_for_texts(texts, ours)
        else:
            with their_member(old, tmp_path, keys, topic, name=f"theirs-{turn}") as theirs:
                wait_for_texts(texts, theirs)
        places = [TopicPartition(topic, each) for each in range(PARTITIONS)]
        with twin.consumer() as consumer:
            kept_in = KeptIn[storage.upper()]
            told = consumer.fetch_offsets(group, places, kept_in)
        assert {each.offset for each in told.values()} == {len(begun) // PARTITIONS}
    assert set(nodes.offsets().values()) == ({15} if storage == "zookeeper" else set())


def test_offsets_are_kept_in_both_while_a_group_moves(
    twin: ClassicTwin, topic: str, znodes: KazooClient
) -> None:
    """What is read is the later one."""
    group, nodes = f"group-{topic}", GroupNodes(znodes, f"group-{topic}")
    write(twin, topic, map(str, range(20)))
    with our_member(keys_of(twin.zookeeper, group), topic) as ours:
        wait_for_texts(map(str, range(20)), ours)
    write(twin, topic, map(str, range(20, 40)))
    with our_member(keys_of(twin.zookeeper, group, offsets_storage="kafka"), topic) as ours:
        wait_for_texts(map(str, range(20, 40)), ours)
    places = [TopicPartition(topic, each) for each in range(PARTITIONS)]
    with twin.consumer() as consumer:
        kept = consumer.fetch_offsets(group, places, KeptIn.KAFKA)
    assert {each.offset for each in kept.values()} == set(nodes.offsets().values()) == {10}


def test_a_stream_that_finds_nothing_says_so_and_goes_on(twin: ClassicTwin, topic: str) -> None:
    keys = keys_of(twin.zookeeper, f"group-{topic}", consumer_timeout_ms=100)
    with ConsumerConnector(keys) as connector:
        (stream,) = connector.create_message_streams({topic: 1})[topic]
        with pytest.raises(ConsumerTimeoutError):
            next(stream)
        write(twin, topic, ["m"])
        found = wait_for("message", lambda: next(stream), unready=(ConsumerTimeoutError,))
        assert (found.topic, found.offset, found.message) == (topic, 0, b"m")
        with pytest.raises(StreamsExistError):
            connector.create_message_streams({topic: 1})
    assert list(stream) == []


def test_streams_have_times_since_0_10(twin: ClassicTwin, topic: str) -> None:
    keys = {"broker.list": twin.servers, "request.required.acks": -1}
    with Producer(keys, release=Release.V0_10, request_timeout_ms=PATIENCE_MS) as producer:
        producer.send(KeyedMessage(topic, b"m"))
    group = keys_of(twin.zookeeper, f"group-{topic}", consumer_timeout_ms=PATIENCE_MS)
    with ConsumerConnector(group, release=Release.V0_10) as connector:
        (stream,) = connector.create_message_streams({topic: 1})[topic]
        found = next(stream)
    assert (found.message, found.timestamp_ms > 0) == (b"m", True)


def test_without_automatic_commits_only_what_is_committed_counts(
    twin: ClassicTwin, topic: str, znodes: KazooClient
) -> None:
    group = f"group-{topic}"
    keys = keys_of(twin.zookeeper, group, auto_commit_enable="false")
    write(twin, topic, map(str, range(20)))
    for _ in range(2):
        with our_member(keys, topic) as ours:
            wait_for_texts(map(str, range(20)), ours)
    assert GroupNodes(znodes, group).offsets() == {}
    with our_member(keys, topic) as ours:
        wait_for_texts(map(str, range(20)), ours)
        ours.connector.commit_offsets()
    assert set(GroupNodes(znodes, group).offsets().values()) == {5}


def test_an_offset_that_is_gone_is_reset(
    twin: ClassicTwin, topic: str, znodes: KazooClient
) -> None:
    group = f"group-{topic}"
    znodes.create(f"/consumers/{group}/offsets/{topic}/0", b"1000", makepath=True)
    write(twin, topic, map(str, range(4)))
    with our_member(keys_of(twin.zookeeper, group), topic) as ours:
        wait_for_texts(map(str, range(4)), ours)
    assert GroupNodes(znodes, group).offsets()[TopicPartition(topic, 0)] == 1
