"""Whoever asks about partitions that there are not waits for them, and is told so at the end."""

from __future__ import annotations

import pytest

from logquake.client.errors import TimedOutError
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.consumer.lone_consumer import LoneConsumer


@pytest.mark.parametrize(
    ("place", "why"),
    [
        (TopicPartition("t", 9), "UNKNOWN_TOPIC_OR_PARTITION: t has no partition 9: it has 2"),
        (TopicPartition("gone", 0), "UNKNOWN_TOPIC_OR_PARTITION: topic gone"),
    ],
)
def test_the_time_out_says_what_is_not_there(place: TopicPartition, why: str) -> None:
    consumer = LoneConsumer({})
    began_ms = consumer.clock.now
    with pytest.raises(TimedOutError, match=f"^no offsets in 2000 ms: {why}$"):
        consumer.call(consumer.consuming.lookups.end_offsets([place], 2_000))
    assert consumer.clock.now == began_ms + 2_000
