"""Members of our own in groups, on our brokers and on Kafka's: alone and with each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from threading import Thread

import pytest

from logquake.client.consumer.assignors.assignor import Assignment, PartitionsByTopic, Subscriptions
from logquake.client.consumer.assignors.range import RangeAssignor
from logquake.client.consumer.assignors.round_robin import RoundRobinAssignor
from logquake.client.consumer.group.listener import Offsets
from logquake.client.consumer.group.statistics import GroupEvent, GroupEventKind
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.errors import BrokerError, ClientError, CommitFailedError
from logquake.cluster.api import Cluster
from logquake.wire.errors import ErrorCode
from tests.compat.group_members import (
    members,
)
from tests.compat.group_places import (
    PARTITIONS,
    PROPERTIES,
    Place,
    place_of,
    polled_until,
    wait_until_read,
    wait_until_shared,
)
from tests.compat.our_members import (
    OurCooperativeMember,
    OurMember,
)
from tests.compat.releases import KINDS, Releases, releases
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.maven]


@pytest.fixture(scope="module")
def brokers(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Releases]:
    folder, zookeeper = tmp_path_factory.mktemp("members"), cluster.zookeeper_connect
    with releases(folder, zookeeper, PROPERTIES) as each:
        yield each


_numbers = count()


@pytest.fixture(params=KINDS)
def place(brokers: Releases, request: pytest.FixtureRequest) -> Place:
    return place_of(brokers[request.param], next(_numbers))


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
    events: list[GroupEvent] = []
    with place.consumer(
        events.append, max_poll_interval_ms=3_000, session_timeout_ms=6_000
    ) as consumer:
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
    assert GroupEventKind.OUT in {event.kind for event in events}


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


def test_whoever_uses_a_consumer_does_not_wait_for_its_assignor(place: Place) -> None:
    seen: list[frozenset[str]] = []

    class Mine(RangeAssignor):
        name = "mine"

        def assign(self, partitions: PartitionsByTopic, members: Subscriptions) -> Assignment:
            looking = Thread(target=lambda: seen.append(consumer.subscription()))
            looking.start()
            looking.join(PATIENCE_S)
            return super().assign(partitions, members)

    with place.consumer(partition_assignment_strategy=[Mine()]) as consumer:
        consumer.subscribe([place.topic])
        wait_for("an assignment", lambda: consumer.poll(50) or consumer.assignment())
        assert seen == [{place.topic}]


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
