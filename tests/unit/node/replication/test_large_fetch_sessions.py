"""A follower of many partitions: its leader is never held by all of them at once."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.node.replication.fetcher.session import NEW_AT_A_TIME
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from tests.doubles.network import ScriptedNetwork
from tests.doubles.scheduler import ManualScheduler
from tests.unit.node.replication.one_broker import TOPIC_ID, OneBroker

MANY = 2 * NEW_AT_A_TIME + 100


def named(network: ScriptedNetwork) -> list[int]:
    return [p.partition for topic in network.sent[-1].request.topics for p in topic.partitions]


def asked(network: ScriptedNetwork) -> tuple[int, int, int]:
    """How many it names, in which epoch of the session, and how long it waits at most."""
    request = network.sent[-1].request
    return len(named(network)), request.session_epoch, request.max_wait_ms


def answer(network: ScriptedNetwork, *, session: int = 5, error: int = 0, **fields: Any) -> None:
    """With a word on each partition that was named, as in a first answer."""
    fields = {"records": None, "aborted_transactions": None} | fields
    data = [PartitionData(partition_index=index, **fields) for index in named(network)]
    topics = [FetchableTopicResponse(topic_id=TOPIC_ID, partitions=data)]
    network.sent[-1].done(
        FetchResponse(error_code=error, session_id=session, responses=[] if error else topics)
    )


@pytest.fixture
def following(broker: OneBroker, network: ScriptedNetwork) -> OneBroker:
    """The first Fetch left when only one partition was followed."""
    for index in range(MANY):
        broker.assign(leader=2, index=index)
    assert asked(network) == (1, 0, 500)
    return broker


def test_what_is_new_is_named_some_at_a_time_and_nothing_is_waited_for_before_the_end(
    following: OneBroker, network: ScriptedNetwork
) -> None:
    assert following.replicas
    everything = named(network)
    for expected in ((NEW_AT_A_TIME, 1, 0), (NEW_AT_A_TIME, 2, 0), (99, 3, 500), (0, 4, 500)):
        answer(network)
        assert asked(network) == expected
        everything += named(network)
    assert everything == list(range(MANY))


@pytest.mark.usefixtures("following")
def test_a_session_that_is_begun_anew_is_filled_in_the_same_way(network: ScriptedNetwork) -> None:
    for _ in range(4):
        answer(network)
    answer(network, error=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    for expected in ((NEW_AT_A_TIME, 0, 0), (NEW_AT_A_TIME, 1, 0), (100, 2, 500), (0, 3, 500)):
        assert asked(network) == expected
        answer(network)


@pytest.mark.usefixtures("following")
def test_a_leader_that_opens_no_session_is_told_of_all(network: ScriptedNetwork) -> None:
    answer(network, session=0)
    assert asked(network) == (MANY, 0, 500)
    answer(network)  # it has room for one now
    assert asked(network) == (0, 1, 500)


def test_what_moved_is_named_whatever_else_is_to_be(
    following: OneBroker, network: ScriptedNetwork, batch: Any
) -> None:
    """Else its leader would send the same records once more."""
    answer(network, records=batch(b"a", leader_epoch=0))
    assert asked(network) == (1 + NEW_AT_A_TIME, 1, 0)
    assert named(network)[-1] == 0 or named(network)[0] == 0
    assert following.partition(0).replica.end == 1


@pytest.mark.usefixtures("following")
def test_a_large_session_is_not_given_up_for_a_new_leadership(
    broker: OneBroker, network: ScriptedNetwork, scheduler: ManualScheduler
) -> None:
    for _ in range(4):
        answer(network)
    sent = len(network.sent)
    broker.assign(leader=2, index=0, epoch=1)
    scheduler.advance(400)
    assert len(network.sent) == sent
    answer(network)
    assert (named(network), asked(network)) == ([0], (1, 5, 500))
