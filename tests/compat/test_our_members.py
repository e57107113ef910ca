"""Members of our own in groups, on our brokers and on Kafka's: alone, with each other, with others.

Kafka's Java consumer, librdkafka, kafka-python and aiokafka share groups with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count

import pytest
from confluent_kafka import Producer

from logquake.client.consumer.assignors.assignor import Assignment, PartitionsByTopic, Subscriptions
from logquake.client.consumer.assignors.round_robin import RoundRobinAssignor
from logquake.client.consumer.group.listener import Offsets
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.errors import BrokerError, ClientError, CommitFailedError
from logquake.client.sync.consumer import Consumer
from logquake.cluster.api import Cluster
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition
from tests.compat.group_members import (
    AioKafkaMember,
    CooperativeMember,
    GroupMember,
    KafkaPythonMember,
    LibrdkafkaMember,
    members,
)
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.our_members import (
    JAVA_SOURCES,
    CooperativeJavaMember,
    JavaMember,
    OurCooperativeMember,
    OurMember,
)
from tests.compat.twins import Twin, twins_of
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.maven]

PARTITIONS = 4
PATIENCE_MS = int(PATIENCE_S * 1000)


@dataclass(frozen=True)
class Place:
    """A topic and a group that nobody else has."""

    twin: Twin
    topic: str
    group: str

    @property
    def servers(self) -> str:
        return f"127.0.0.1:{self.twin.port}"

    @property
    def places(self) -> list[TopicPartition]:
        return [TopicPartition(self.topic, partition) for partition in range(PARTITIONS)]

    def write(self, *values: str, topic: str | None = None) -> None:
        """One to each partition in turn."""
        producer = Producer({"bootstrap.servers": self.servers})
        for index, value in enumerate(values):
            producer.produce(topic or self.topic, value, partition=index % PARTITIONS)
        assert producer.flush(PATIENCE_S) == 0

    def consumer(self, **keys: object) -> Consumer:
        given = {
            "bootstrap_servers": self.servers,
            "group_id": self.group,
            "auto_offset_reset": "earliest",
            "heartbeat_interval_ms": 300,
            "enable_auto_commit": False,
        }
        return Consumer({**given, **keys})

    def ours(self, kind: type[OurMember] = OurMember, instance_id: str | None = None) -> OurMember:
        return kind(self.servers, self.group, [self.topic], instance_id=instance_id)


@pytest.fixture(scope="module")
def twins(
    kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Twin, Twin]]:
    folder = tmp_path_factory.mktemp("members")
    properties = {
        "auto.create.topics.enable": "false",
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": 1,
        "group.initial.rebalance.delay.ms": 0,
    }
    with twins_of(Twin, kafka_programs, cluster.zookeeper_connect, folder, properties) as both:
        yield both


@pytest.fixture(scope="module")
def java(kafka_programs: KafkaPrograms) -> KafkaPrograms:
    return kafka_programs.compiled(JAVA_SOURCES)


@pytest.fixture(scope="module")
def numbers() -> Iterator[int]:
    return count()


@pytest.fixture(params=["ours", "kafkas"])
def place(
    twins: tuple[Twin, Twin], numbers: Iterator[int], request: pytest.FixtureRequest
) -> Place:
    twin = twins[request.param == "kafkas"]
    number = next(numbers)
    place = Place(twin, f"orders-{number}", f"group-{number}")
    assert twin.create(place.topic, PARTITIONS) == ("NONE", None)
    return place


def wait_until_shared(place: Place, *sharing: GroupMember) -> None:
    """Until each partition is one member's, and each member has one."""

    def shares() -> list[set[tuple[str, int]]]:
        return [set(member.assigned) for member in sharing]

    def is_shared(shares: list[set[tuple[str, int]]]) -> bool:
        return all(shares) and sorted(each for share in shares for each in share) == place.places

    wait_for(f"{place.topic} shared by {len(sharing)}", shares, is_shared)


def wait_until_read(place: Place, sharing: list[GroupMember], values: list[str]) -> None:
    """Each value by one of them."""
    place.write(*values)
    wanted = sorted(value.encode() for value in values)
    wait_for(
        "each value with one member",
        lambda: sorted(value for member in sharing for value in member.read),
        lambda read: read == wanted,
    )


def polled_until(consumer: Consumer, what: str, is_so: Callable[[], bool]) -> None:
    def look() -> bool:
        consumer.poll(100)
        return is_so()

    wait_for(what, look)


def test_a_member_commits_as_it_closes_and_its_successor_goes_on(place: Place) -> None:
    with members(place.ours()) as (first,):
        wait_until_read(place, [first], [f"v{number}" for number in range(20)])
    place.write("later")
    with members(place.ours()) as (successor,):
        wait_for("the later value", lambda: successor.read, lambda read: b"later" in read)
        assert successor.read == [b"later"]


def test_eager_members_give_all_back_before_they_share_anew(place: Place) -> None:
    everything, nothing = tuple(place.places), ()
    with members(place.ours()) as (one,):
        wait_until_shared(place, one)
        with members(place.ours()) as (two,):
            wait_until_shared(place, one, two)
            wait_until_read(place, [one, two], [f"v{number}" for number in range(8)])
        wait_until_shared(place, one)
        assert isinstance(one, OurMember)
        told = one.told.copy()
    assert told[0] == ("revoked", nothing) or told[0] == ("assigned", everything)
    assert ("revoked", everything) in told
    assert told[-1] == ("assigned", everything)
    assert not any(verb == "lost" for verb, _ in told)


def test_cooperative_members_give_up_only_what_moves(place: Place) -> None:
    with members(place.ours(OurCooperativeMember)) as (one,):
        wait_until_shared(place, one)
        with members(place.ours(OurCooperativeMember)) as (two,):
            wait_until_shared(place, one, two)
            kept = set(one.assigned)
            wait_until_read(place, [one, two], [f"v{number}" for number in range(8)])
        wait_until_shared(place, one)
    assert isinstance(one, OurMember)
    revoked = {place for verb, places in one.told if verb == "revoked" for place in places}
    first_revoked = next(places for verb, places in one.told if verb == "revoked" and places)
    assert len(first_revoked) == 2
    assert revoked >= set(first_revoked)
    assert kept.isdisjoint(first_revoked)


@pytest.mark.parametrize(
    "other", [LibrdkafkaMember, KafkaPythonMember, AioKafkaMember], ids=lambda each: each.__name__
)
@pytest.mark.parametrize("leads", ["we lead", "they lead"])
def test_a_group_is_shared_with_other_libraries(
    place: Place, other: type[GroupMember], leads: str
) -> None:
    """Whoever joined first leads."""

    def theirs() -> GroupMember:
        return other(place.servers, place.group, [place.topic])

    with ExitStack() as stack:
        sharing: list[GroupMember] = []
        for make in (place.ours, theirs) if leads == "we lead" else (theirs, place.ours):
            sharing += stack.enter_context(members(make()))
            wait_until_shared(place, *sharing)
        wait_until_read(place, sharing, [f"v{number}" for number in range(16)])


def test_a_group_is_shared_with_the_java_client(place: Place, java: KafkaPrograms) -> None:
    with members(place.ours(), JavaMember(java, place.servers, place.group, [place.topic])) as both:
        wait_until_shared(place, *both)
        wait_until_read(place, list(both), [f"v{number}" for number in range(16)])


def test_cooperative_members_of_three_libraries_share_a_group(
    place: Place, java: KafkaPrograms
) -> None:
    of = (place.servers, place.group, [place.topic])
    with members(place.ours(OurCooperativeMember), CooperativeMember(*of)) as two:
        wait_until_shared(place, *two)
        with members(CooperativeJavaMember(java, *of)) as (third,):
            wait_until_shared(place, *two, third)
            wait_until_read(place, [*two, third], [f"v{number}" for number in range(16)])
        wait_until_shared(place, *two)


def test_a_static_member_comes_back_without_a_rebalance(place: Place) -> None:
    with members(place.ours(instance_id="fixed")) as (fixed,):
        wait_until_shared(place, fixed)
        with members(place.ours(instance_id="mover")) as (mover,):
            wait_until_shared(place, fixed, mover)
            share, rebalances = set(mover.assigned), fixed.rebalances
        with members(place.ours(instance_id="mover")) as (again,):
            wait_for("its share", lambda: set(again.assigned), lambda now: now == share)
        assert fixed.rebalances == rebalances


def test_a_static_member_is_fenced_by_another_of_its_name(place: Place) -> None:
    with (
        place.consumer(group_instance_id="me") as first,
        place.consumer(group_instance_id="me") as second,
    ):
        first.subscribe([place.topic])
        polled_until(first, "an assignment", lambda: bool(first.assignment()))
        second.subscribe([place.topic])
        polled_until(second, "an assignment", lambda: bool(second.assignment()))

        def fenced() -> ErrorCode | None:
            try:
                first.poll(100)
            except BrokerError as error:
                return error.code
            return None

        wait_for("fencing", fenced, lambda code: code is ErrorCode.FENCED_INSTANCE_ID)


def test_a_pattern_takes_in_topics_that_come_later(place: Place) -> None:
    later = f"{place.topic}-later"
    with place.consumer(metadata_max_age_ms=500) as consumer:
        consumer.subscribe(re.compile(f"{place.topic}.*"))
        polled_until(consumer, "a topic", lambda: len(consumer.assignment()) == PARTITIONS)
        assert place.twin.create(later, 2) == ("NONE", None)
        polled_until(consumer, "the later", lambda: len(consumer.assignment()) == PARTITIONS + 2)
        assert consumer.subscription() == {place.topic, later}


def test_a_program_that_is_stuck_is_out_and_hears_of_it(place: Place) -> None:
    told: list[str] = []

    class Listener:
        def on_assigned(self, _places: object, /) -> None:
            told.append("assigned")

        def on_revoked(self, _places: object, /) -> None:
            told.append("revoked")

        def on_lost(self, _places: object, /) -> None:
            told.append("lost")

    place.write("v0")
    with place.consumer(max_poll_interval_ms=3_000, session_timeout_ms=6_000) as consumer:
        consumer.subscribe([place.topic], listener=Listener())
        polled_until(consumer, "an assignment", lambda: bool(consumer.assignment()))
        before = consumer.group_metadata()

        def refusal() -> ClientError | None:
            try:
                consumer.commit({place.places[0]: OffsetAndMetadata(1)})
            except CommitFailedError as error:
                return error
            return None

        wait_for("a commit that is refused", refusal)
        told.clear()
        polled_until(consumer, "an assignment", lambda: "assigned" in told)
        assert told == ["lost", "assigned"]
        assert consumer.group_metadata().member_id != before.member_id


def test_commits_are_told_in_order_and_can_be_read(place: Place) -> None:
    first, second = place.places[:2]
    heard: list[object] = []

    def hear(offsets: Offsets, error: ClientError | None) -> None:
        heard.append((error, offsets[first].offset))

    with place.consumer() as consumer:
        consumer.subscribe([place.topic])
        polled_until(consumer, "an assignment", lambda: bool(consumer.assignment()))
        assert consumer.committed([first, second]) == {first: None, second: None}
        for offset in range(1, 6):
            consumer.commit_async({first: OffsetAndMetadata(offset)}, callback=hear)
        consumer.commit({first: OffsetAndMetadata(6, 0, "the last one")})
        assert heard == [(None, offset) for offset in range(1, 6)]
        found = consumer.committed([first, second])
    assert found == {first: OffsetAndMetadata(6, 0, "the last one"), second: None}


def test_what_was_consumed_is_committed_by_itself(place: Place) -> None:
    place.write("v0", "v1", "v2", "v3")
    with place.consumer(enable_auto_commit=True, auto_commit_interval_ms=100) as consumer:
        consumer.subscribe([place.topic])
        seen: list[object] = []

        def is_committed() -> bool:
            seen.extend(consumer.poll(100))
            told = consumer.committed(place.places).values()
            return all(each is not None and each.offset == 1 for each in told)

        wait_for("commits", is_committed)
    assert len(seen) == PARTITIONS


def test_an_assignor_of_the_programs_own(place: Place) -> None:
    class Mine(RoundRobinAssignor):
        name = "mine"

        def assign(self, partitions: PartitionsByTopic, members: Subscriptions) -> Assignment:
            return super().assign(partitions, members)

    with (
        place.consumer(partition_assignment_strategy=[Mine()]) as one,
        place.consumer(partition_assignment_strategy=[Mine()]) as two,
    ):
        one.subscribe([place.topic])
        two.subscribe([place.topic])

        def is_shared() -> bool:
            one.poll(50)
            two.poll(50)
            return len(one.assignment()) == len(two.assignment()) == PARTITIONS // 2

        wait_for("a share each", is_shared)
        assert one.assignment() | two.assignment() == set(place.places)


def test_who_knows_no_common_assignor_is_refused(place: Place) -> None:
    with members(place.ours()) as (one,):
        wait_until_shared(place, one)
        with place.consumer(partition_assignment_strategy="roundrobin") as other:
            other.subscribe([place.topic])

            def refusal() -> ErrorCode | None:
                try:
                    other.poll(100)
                except BrokerError as error:
                    return error.code
                return None

            wait_for("refusal", refusal, lambda code: code is ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
