"""Who of a group owns what, as each consumer works it out."""

from __future__ import annotations

import pytest

from logquake.client.classic.consuming.assignment import GroupView, ThreadId, assign
from logquake.client.classic.settings.consumer import Strategy


def view(me: str, streams: dict[str, dict[str, int]], partitions: dict[str, int]) -> GroupView:
    """``streams`` by topic, then by consumer."""
    return GroupView(
        me,
        {
            topic: [ThreadId(name, number) for name, count in of.items() for number in range(count)]
            for topic, of in streams.items()
        },
        {topic: range(count) for topic, count in partitions.items()},
    )


def shares(
    strategy: Strategy, streams: dict[str, dict[str, int]], partitions: dict[str, int]
) -> dict[str, list[str]]:
    """By stream, of the whole group."""
    found: dict[str, list[str]] = {}
    for me in {name for of in streams.values() for name in of}:
        for place, thread in assign(strategy, view(me, streams, partitions)).items():
            found.setdefault(str(thread), []).append(str(place))
    return {thread: sorted(places) for thread, places in sorted(found.items())}


def test_ranges_are_kafkas_own_example() -> None:
    assert shares(Strategy.RANGE, {"t": {"C1": 2, "C2": 2}}, {"t": 5}) == {
        "C1-0": ["t-0", "t-1"],
        "C1-1": ["t-2"],
        "C2-0": ["t-3"],
        "C2-1": ["t-4"],
    }


def test_streams_are_ordered_as_text() -> None:
    """So the eleventh stream comes before the third."""
    found = shares(Strategy.RANGE, {"t": {"c": 11}}, {"t": 11})
    assert (found["c-1"], found["c-10"], found["c-2"]) == (["t-1"], ["t-2"], ["t-3"])


def test_more_streams_than_partitions() -> None:
    assert shares(Strategy.RANGE, {"t": {"a": 2, "b": 1}}, {"t": 1}) == {"a-0": ["t-0"]}


def test_ranges_of_members_with_other_topics() -> None:
    streams = {"t": {"a": 1, "b": 1}, "u": {"b": 1}}
    assert assign(Strategy.RANGE, view("a", streams, {"t": 2})).keys() == {("t", 0)}
    assert assign(Strategy.RANGE, view("b", streams, {"t": 2, "u": 2})).keys() == {
        ("t", 1),
        ("u", 0),
        ("u", 1),
    }


def test_round_robin_deals_out_in_the_order_of_hashes() -> None:
    streams = {"t": {"a": 1, "b": 1}, "u": {"a": 1, "b": 1}}
    assert shares(Strategy.ROUND_ROBIN, streams, {"t": 3, "u": 2}) == {
        "a-0": ["t-0", "t-2", "u-1"],
        "b-0": ["t-1", "u-0"],
    }


def test_round_robin_is_refused_to_members_that_differ() -> None:
    streams = {"t": {"a": 1, "b": 1}, "u": {"a": 1}}
    with pytest.raises(ValueError, match="roundrobin needs all consumers"):
        assign(Strategy.ROUND_ROBIN, view("a", streams, {"t": 1, "u": 1}))
