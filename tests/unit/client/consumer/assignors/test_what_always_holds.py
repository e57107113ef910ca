"""What holds of every assignment, whatever the group: groups made up by Hypothesis."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from logquake.client.consumer.assignors.assignor import (
    Assignment,
    Assignor,
    Held,
    PartitionsByTopic,
    Subscriptions,
)
from logquake.client.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from logquake.client.consumer.assignors.range import RangeAssignor
from logquake.client.consumer.assignors.round_robin import RoundRobinAssignor
from logquake.client.consumer.assignors.sticky import StickyAssignor
from logquake.client.consumer.assignors.subscriptions import Subscription
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.consumer.assignors.topics import without_racks

EAGER: tuple[Assignor, ...] = (RangeAssignor(), RoundRobinAssignor(), StickyAssignor())
TOPICS = ("s", "t", "u", "gone")

topic_racks = st.lists(st.frozensets(st.sampled_from("xyz"), max_size=2), max_size=6)
partitions_by_topic = st.fixed_dictionaries(dict.fromkeys(TOPICS[:3], topic_racks))
any_place = st.builds(TopicPartition, st.sampled_from(TOPICS), st.integers(0, 7))
held = st.builds(Held, st.lists(any_place, unique=True).map(tuple), generation=st.integers(-1, 3))


@st.composite
def groups(draw: st.DrawFn, *, alike: bool = False) -> dict[str, Subscription]:
    """Members that say anything of what they own, as members from many generations may."""
    wishes = st.sets(st.sampled_from(TOPICS)).map(sorted).map(tuple)
    one_wish = draw(wishes)
    members = {}
    for name in draw(st.sets(st.sampled_from("abcdef"), min_size=1)):
        had = draw(held)
        members[name] = Subscription(
            topics=one_wish if alike else draw(wishes),
            owned=had.partitions,
            generation=had.generation,
            rack=draw(st.none() | st.sampled_from("xyz")),
            instance_id=draw(st.none() | st.just("i-" + name)),
            user_data=draw(st.none() | st.just(StickyAssignor().user_data(had)) | st.binary()),
        )
    return members


def everything(partitions: PartitionsByTopic, members: Subscriptions) -> set[TopicPartition]:
    wanted = set(chain.from_iterable(said.topics for said in members.values()))
    return {
        TopicPartition(topic, number)
        for topic, racks in partitions.items()
        if topic in wanted
        for number in range(len(racks))
    }


def in_all(assigned: Assignment) -> list[TopicPartition]:
    return list(chain.from_iterable(assigned.values()))


@given(partitions_by_topic, groups())
def test_each_partition_has_one_reader_who_wants_it(
    partitions: PartitionsByTopic, members: Subscriptions
) -> None:
    for assignor in EAGER:
        assigned = assignor.assign(partitions, members)
        assert assigned.keys() == members.keys()
        assert sorted(in_all(assigned)) == sorted(everything(partitions, members))
        for member, places in assigned.items():
            assert {place.topic for place in places} <= set(members[member].topics)


@given(partitions_by_topic, groups(alike=True))
def test_who_wants_the_same_gets_as_much(
    partitions: PartitionsByTopic, members: Subscriptions
) -> None:
    for assignor in (RoundRobinAssignor(), StickyAssignor()):
        sizes = [len(places) for places in assignor.assign(partitions, members).values()]
        assert max(sizes) - min(sizes) <= 1


@given(partitions_by_topic, groups())
def test_of_a_topic_its_readers_get_as_much_by_range(
    partitions: PartitionsByTopic, members: Subscriptions
) -> None:
    assigned = RangeAssignor().assign(partitions, members)
    for topic in partitions:
        of_topic = [
            Counter(place.topic for place in assigned[member])[topic]
            for member, said in members.items()
            if topic in said.topics
        ]
        assert not of_topic or max(of_topic) - min(of_topic) <= 1


@given(partitions_by_topic, groups())
def test_cooperative_members_never_get_what_another_one_still_owns(
    partitions: PartitionsByTopic, members: Subscriptions
) -> None:
    newest = max(said.generation for said in members.values())
    assigned = CooperativeStickyAssignor().assign(partitions, members)
    assert len(in_all(assigned)) == len(set(in_all(assigned)))
    for member, places in assigned.items():
        others = Counter(
            place
            for other, said in members.items()
            if other != member and said.generation == newest
            for place in said.owned
        )
        added = set(places).difference(members[member].owned)
        assert added.isdisjoint(others)


def rounds_until_stable(partitions: PartitionsByTopic, members: Subscriptions) -> Assignment:
    """The group joins again until nobody has to give up anything."""
    assignor = CooperativeStickyAssignor()
    group = {name: replace(said, user_data=None) for name, said in members.items()}
    for generation in range(10, 20):
        assigned = assignor.assign(partitions, group)
        if all(set(group[name].owned) == set(places) for name, places in assigned.items()):
            return assigned
        group = {
            name: replace(said, owned=tuple(assigned[name]), generation=generation)
            for name, said in group.items()
        }
    raise AssertionError("it goes round and round")


@given(partitions_by_topic, groups())
def test_cooperative_groups_come_to_rest_with_everything_read(
    partitions: PartitionsByTopic, members: Subscriptions
) -> None:
    assigned = rounds_until_stable(partitions, members)
    assert sorted(in_all(assigned)) == sorted(everything(partitions, members))


@given(st.integers(1, 20), st.sets(st.sampled_from("abcdefgh"), min_size=1), st.booleans())
def test_a_sticky_member_that_stays_loses_no_more_than_it_has_to(
    count: int, names: set[str], comes: bool
) -> None:
    assignor = StickyAssignor()
    partitions = without_racks({"t": count})
    before = assignor.assign(partitions, {name: Subscription(("t",)) for name in names})
    stay = {name: Held(tuple(places), 1) for name, places in before.items()}
    if len(stay) > 1 and not comes:
        del stay[min(stay)]
    group = {
        name: Subscription(("t",), generation=1, user_data=assignor.user_data(had))
        for name, had in stay.items()
    }
    if comes:
        group["new"] = Subscription(("t",))
    after = assignor.assign(partitions, group)
    most = -(-count // len(group))
    for name, had in stay.items():
        kept = set(had.partitions) & set(after[name])
        assert len(kept) >= min(len(had.partitions), count // len(group))
        assert len(after[name]) <= most
