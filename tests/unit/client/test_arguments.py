"""What no request could name is refused in the call that it was given to."""

from __future__ import annotations

import re
from typing import Any

import pytest

from logquake.client.arguments import (
    check_group,
    check_offsets,
    check_pattern,
    check_places,
    check_times,
    check_topics,
)
from logquake.client.consumer.offsets import ConsumerGroupMetadata, OffsetAndMetadata
from logquake.wire.topic_partition import TopicPartition

PLACE = TopicPartition("t", 0)
LONG = "x" * 40_000


def test_what_can_be_named() -> None:
    check_topics(["t", "u"])
    check_pattern(re.compile("t.*"))
    check_places([PLACE])
    check_offsets({PLACE: OffsetAndMetadata(2**63 - 1, -1, "said")})
    check_group(ConsumerGroupMetadata("g", 3, "m", "i"))
    check_times({PLACE: 0})


@pytest.mark.parametrize("topics", ["t", [""], [" "], [5], [b"t"], ["\ud800"], [LONG], [None]])
def test_no_topics(topics: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        check_topics(topics)


@pytest.mark.parametrize("pattern", [re.compile(b"t.*"), re.compile("")])
def test_no_pattern(pattern: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        check_pattern(pattern)


@pytest.mark.parametrize(
    "place",
    [
        ("t", 0),
        "t-0",
        TopicPartition("", 0),
        TopicPartition("t", -1),
        TopicPartition("t", 2**31),
        TopicPartition("t", "0"),  # type: ignore[arg-type]
        TopicPartition(LONG, 0),
    ],
)
def test_no_partition(place: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        check_places([place])
    with pytest.raises((TypeError, ValueError)):
        check_offsets({place: OffsetAndMetadata(1)})
    with pytest.raises((TypeError, ValueError)):
        check_times({place: 1})


@pytest.mark.parametrize(
    "offset",
    [
        5,
        OffsetAndMetadata(-1),
        OffsetAndMetadata(2**63),
        OffsetAndMetadata(1.5),  # type: ignore[arg-type]
        OffsetAndMetadata(1, 2**31),
        OffsetAndMetadata(1, 0, LONG),
        OffsetAndMetadata(1, 0, b"said"),  # type: ignore[arg-type]
        OffsetAndMetadata(1, 0, "\ud800"),
    ],
)
def test_no_offset(offset: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        check_offsets({PLACE: offset})


@pytest.mark.parametrize(
    "group",
    [
        "g",
        ConsumerGroupMetadata(LONG),
        ConsumerGroupMetadata("g", 2**31),
        ConsumerGroupMetadata("g", 1, None),  # type: ignore[arg-type]
        ConsumerGroupMetadata("g", 1, "m", "\ud800"),
    ],
)
def test_no_group(group: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        check_group(group)
