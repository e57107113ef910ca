"""Whom a producer asks whose every request has a connection of its own."""

from __future__ import annotations

from contextlib import closing

import pytest

from logquake.chaos.workloads.whom import Whom
from logquake.client.errors import BrokerError, ConnectionLostError, NoLeaderError
from logquake.client.settings import Address
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import FindCoordinatorResponse
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.cluster_in_memory import FakeClock, FakeNetwork, FakeTopology, all_versions

BOOT, OTHER = Address("boot", 1), Address("other", 2)


@pytest.fixture
def network() -> FakeNetwork:
    network = FakeNetwork(FakeClock())
    network.handlers[ApiKey.API_VERSIONS] = lambda *_: all_versions()
    network.handlers[ApiKey.METADATA] = FakeTopology().metadata
    return network


def test_partitions_and_their_leaders(network: FakeNetwork) -> None:
    with closing(Whom([BOOT], network.dial)) as whom:
        assert whom.partitions("t") == [TopicPartition("t", 0), TopicPartition("t", 1)]
        for partition, name in ((0, "one:9092"), (1, "two:9092")):
            with closing(whom.leader(TopicPartition("t", partition))) as leader:
                assert leader.name == name
        with pytest.raises(NoLeaderError, match="t-7 has no leader"):
            whom.leader(TopicPartition("t", 7))
        with pytest.raises(BrokerError, match="UNKNOWN_TOPIC_OR_PARTITION"):
            whom.partitions("none")


def test_the_coordinator_of_a_transactional_id(network: FakeNetwork) -> None:
    answers = [
        FindCoordinatorResponse(error_code=0, node_id=2, host="two", port=9092),
        FindCoordinatorResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE),
    ]
    network.handlers[ApiKey.FIND_COORDINATOR] = lambda *_: answers.pop()
    with closing(Whom([BOOT], network.dial)) as whom:
        with pytest.raises(BrokerError) as refused:
            whom.coordinator("tx")
        assert refused.value.retriable
        with closing(whom.coordinator("tx")) as coordinator:
            assert coordinator.name == "two:9092"


def test_who_does_not_answer_is_the_last_to_be_asked_again(network: FakeNetwork) -> None:
    network.refused.add(BOOT)
    with closing(Whom([BOOT, OTHER], network.dial)) as whom:
        whom.partitions("t")
        network.refused.clear()
        whom.partitions("t")
    assert [socket.address for socket in network.sockets] == [OTHER]


def test_all_who_do_not_answer_are_told(network: FakeNetwork) -> None:
    network.refused |= {BOOT, OTHER}
    with (
        closing(Whom([BOOT, OTHER], network.dial)) as whom,
        pytest.raises(ConnectionLostError, match=r"boot:1.*; .*other:2"),
    ):
        whom.partitions("t")
