"""A consumer that nobody answers says so: to its log each time, and in what its calls raise."""

from __future__ import annotations

import logging

import pytest

from logquake.client.errors import TimedOutError
from logquake.client.settings import Address
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.consumer.lone_consumer import LoneConsumer

PLACE = TopicPartition("t", 0)


def alone() -> LoneConsumer:
    consumer = LoneConsumer({}, group_id="g", reconnect_backoff_max_ms=1_000)
    consumer.network.refused.add(Address("one", 9092))
    return consumer


def test_each_attempt_to_connect_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """As far apart as reconnect.backoff.max.ms has it, less a fifth at random."""
    consumer = alone()
    consumer.call(consumer.consuming.subscribe(["t"], None))
    with caplog.at_level(logging.INFO, "logquake.client"):
        consumer.be_left_alone(60_000)
    told = [one for one in caplog.records if "no connection to one:9092: refused" in one.message]
    assert {one.levelno for one in told} == {logging.WARNING}
    assert 40 < len(told) < 90


def test_calls_that_are_given_up_say_that_no_broker_answers() -> None:
    consumer = alone()
    why = r"no broker answers: no connection to one:9092: refused"
    with pytest.raises(TimedOutError, match=why):
        consumer.call(consumer.consuming.committing.committed([PLACE], 5_000))
    consumer.call(consumer.consuming.assign([PLACE]))
    with pytest.raises(TimedOutError, match=why):
        consumer.call(consumer.consuming.seeking.position(PLACE, 5_000))
