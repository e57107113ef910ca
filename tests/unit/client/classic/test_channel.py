"""A channel of the older APIs: versions of its time, time-outs, and whoever ends its wait."""

from __future__ import annotations

import pytest

from logquake.client.classic.channel import Dial
from logquake.client.classic.topic_metadata import ask_for_topics
from logquake.client.errors import ClosedError, ConnectionLostError, RequestTimedOutError
from logquake.client.settings import Address
from logquake.wire.api import ApiKey
from tests.unit.client.cluster_in_memory import FakeClock, FakeNetwork

ONE = Address("one", 9092)


def test_brokers_are_not_asked_what_they_speak(network: FakeNetwork, dial: Dial) -> None:
    (topic,) = ask_for_topics(dial(ONE, "me", 100), ["t"])
    assert [each.leader and each.leader.id for each in topic.partitions] == [1, 2]
    assert network.requests.keys() == {ApiKey.METADATA}
    (header,) = network.headers
    assert (header.api_version, header.client_id) == (0, "me")


def test_no_answer_in_time(network: FakeNetwork, dial: Dial, clock: FakeClock) -> None:
    network.handlers[ApiKey.METADATA] = lambda *_: None
    began_ms = clock.now_ms()
    with pytest.raises(RequestTimedOutError):
        ask_for_topics(dial(ONE, "", 100), [])
    assert clock.now_ms() - began_ms == 100


def test_it_connects_again_after_a_failure(network: FakeNetwork, dial: Dial) -> None:
    channel = dial(ONE, "", 100)
    network.refused.add(ONE)
    with pytest.raises(ConnectionLostError):
        ask_for_topics(channel, [])
    network.refused.clear()
    assert ask_for_topics(channel, ["t"])


def test_it_is_of_no_use_once_it_is_interrupted(dial: Dial) -> None:
    channel = dial(ONE, "", 100)
    channel.interrupt()
    with pytest.raises(ClosedError):
        ask_for_topics(channel, [])
    channel.disconnect()
    channel.interrupt()
