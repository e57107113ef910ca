"""ElectLeaders, in every version that is served."""

from __future__ import annotations

import pytest

from logquake.node.requests.elect_leaders import ElectLeaders
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.reassignment import ElectLeadersRequest, ElectLeadersResponse
from logquake.wire.messages.reassignment import TopicPartitions as Topic
from tests.unit.node.requests.lone_broker import LoneBroker

versions = pytest.mark.parametrize("version", ElectLeaders.versions)


def results(response: ElectLeadersResponse) -> dict[tuple[str, int], tuple[int, str | None]]:
    return {
        (topic.topic, each.partition_id): (each.error_code, each.error_message)
        for topic in response.replica_election_results
        for each in topic.partition_result
    }


@versions
def test_each_partition_is_answered(broker: LoneBroker, version: int) -> None:
    asked = [Topic(topic="orders", partitions=[0, 0, 99]), Topic(topic="nowhere", partitions=[0])]
    answer = broker.ask(ElectLeadersRequest(topic_partitions=asked, timeout_ms=100), version)
    missing = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.")
    assert answer.error_code == 0
    assert results(answer) == {
        ("orders", 0): (
            ErrorCode.ELECTION_NOT_NEEDED,
            "Leader election not needed for topic partition.",
        ),
        ("orders", 99): missing,
        ("nowhere", 0): missing,
    }


@versions
def test_of_all_partitions_those_in_order_are_left_out(broker: LoneBroker, version: int) -> None:
    answer = broker.ask(ElectLeadersRequest(topic_partitions=None, timeout_ms=100), version)
    assert ("orders", 0) not in results(answer)


@pytest.mark.parametrize("version", [1, 2])
def test_a_type_that_does_not_exist(broker: LoneBroker, version: int) -> None:
    asked = [Topic(topic="orders", partitions=[0])]
    request = ElectLeadersRequest(election_type=7, topic_partitions=asked, timeout_ms=100)
    answer = broker.ask(request, version)
    assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert results(answer) == {("orders", 0): (ErrorCode.UNKNOWN_SERVER_ERROR, None)}
