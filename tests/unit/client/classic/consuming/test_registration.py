"""What a consumer's node says, as 0.8's writes it."""

from __future__ import annotations

import pytest

from logquake.client.classic.consuming.registration import (
    StaticTopics,
    TopicCount,
    Wildcard,
    decode_registration,
    encode_registration,
    streams_of,
)
from logquake.client.classic.consuming.topic_filter import Blacklist, Whitelist
from logquake.zk.znodes.json_text import MalformedZnode

TOPICS = ["orders", "events", "__consumer_offsets"]


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (
            StaticTopics({"orders": 2}),
            '{"version":1,"subscription":{"orders":2},"pattern":"static","timestamp":"5"}',
        ),
        (
            Wildcard(Whitelist("a.*\\d"), 3),
            '{"version":1,"subscription":{"a.*\\\\d":3},"pattern":"white_list","timestamp":"5"}',
        ),
        (
            Wildcard(Blacklist("b"), 1),
            '{"version":1,"subscription":{"b":1},"pattern":"black_list","timestamp":"5"}',
        ),
    ],
)
def test_it_is_read_as_it_was_written(wanted: TopicCount, text: str) -> None:
    data = encode_registration(wanted, 5)
    assert data.decode() == text
    assert decode_registration(data) == wanted


def test_streams_of_topics_that_are_there() -> None:
    def found(wanted: TopicCount, *, exclude_internal: bool = True) -> set[str]:
        return set(streams_of(wanted, TOPICS, exclude_internal=exclude_internal))

    assert found(StaticTopics({"orders": 2, "later": 1})) == {"orders", "later"}
    assert found(Wildcard(Whitelist(" 'orders, events' "), 1)) == {"orders", "events"}
    assert found(Wildcard(Whitelist("order"), 1)) == set()
    assert found(Wildcard(Blacklist("order.*"), 1)) == {"events"}
    assert found(Wildcard(Blacklist("order.*"), 1), exclude_internal=False) == {
        "events",
        "__consumer_offsets",
    }


def test_a_filter_that_is_no_regular_expression() -> None:
    with pytest.raises(ValueError, match="invalid regex"):
        Whitelist("(")


@pytest.mark.parametrize(
    "data", [b"", b"[]", b'{"subscription":5,"pattern":"static"}', b'{"pattern":"static"}']
)
def test_a_node_that_makes_no_sense(data: bytes) -> None:
    with pytest.raises(MalformedZnode):
        decode_registration(data)


def test_a_topic_needs_a_stream() -> None:
    for make in (lambda: StaticTopics({"t": 0}), lambda: Wildcard(Whitelist("t"), 0)):
        with pytest.raises(ValueError, match="at least one stream"):
            make()
    with pytest.raises(MalformedZnode):
        decode_registration(b'{"subscription":{"t":0},"pattern":"static"}')
