"""FindCoordinator and InitProducerId, in every version that is served."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.node.requests.find_coordinator import FindCoordinator
from logquake.node.requests.init_producer_id import InitProducerId
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import FindCoordinatorRequest
from logquake.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from logquake.wire.messages.transactions import InitProducerIdRequest
from logquake.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from tests.unit.node.requests.lone_broker import LoneBroker

COORDINATORS_TOPICS = ("__consumer_offsets", "__transaction_state")  # by key type
init_versions = pytest.mark.parametrize("version", InitProducerId.versions)


@pytest.fixture
def properties() -> dict[str, str]:
    """Topics that one broker can hold."""
    return {
        "listeners": "PLAINTEXT://127.0.0.1:9092,OUTSIDE://127.0.0.1:19092",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,OUTSIDE:PLAINTEXT",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.num.partitions": "3",
        "transaction.state.log.min.isr": "1",
        "auto.create.topics.enable": "false",
    }


def ask(broker: LoneBroker, version: int, key_type: int, key: str = "a", **how: Any) -> Any:
    """Error, node and port."""
    keys: dict[str, Any] = {"key": key} if version < 4 else {"coordinator_keys": [key]}
    request = FindCoordinatorRequest(key_type=key_type if version else 0, **keys)
    reply = broker.ask(request, version, **how)
    found = reply if version < 4 else reply.coordinators[0]
    return found.error_code, found.node_id, found.port


every_find = pytest.mark.parametrize("version", FindCoordinator.versions)


@every_find
@pytest.mark.parametrize(("key_type", "topic"), list(enumerate(COORDINATORS_TOPICS)))
def test_a_coordinator_is_found_once_its_topic_is_made(
    broker: LoneBroker, version: int, key_type: int, topic: str
) -> None:
    """Whatever auto.create.topics.enable says."""
    assert ask(broker, version, key_type) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, -1, -1)
    broker.settle()
    assert ask(broker, version, key_type) == (ErrorCode.NONE, 1, 9092)
    made = broker.ask(MetadataRequest(topics=[MetadataRequestTopic(name=topic)]), 12).topics
    if version:
        assert [(each.is_internal, len(each.partitions)) for each in made] == [
            (True, 3 if key_type else 4)
        ]


@every_find
def test_a_coordinator_has_the_address_of_the_askers_listener(
    broker: LoneBroker, version: int
) -> None:
    ask(broker, version, 0)
    broker.settle()
    assert ask(broker, version, 0, listener="OUTSIDE") == (ErrorCode.NONE, 1, 19092)
    nobody = (ErrorCode.COORDINATOR_NOT_AVAILABLE, -1, -1)
    assert ask(broker, version, 0, listener="ELSEWHERE") == nobody


@pytest.mark.parametrize(
    ("group", "partition"),
    [("", 0), ("a", 1), ("g1", 2), ("polygenelubricants", 0), ("gr\u00fc\u00dfe", 3)],
)
def test_a_groups_partition_follows_from_javas_hash(
    broker: LoneBroker, group: str, partition: int
) -> None:
    """Broker 2 leads that one partition of four."""
    tell_of_groups_topic(broker, {each: 2 if each == partition else 77 for each in range(4)})
    assert ask(broker, 3, 0, group) == (ErrorCode.NONE, 2, 9093)


def test_a_partition_that_is_not_told_of_counts(broker: LoneBroker) -> None:
    """As the last one, whose state the controller has set aside."""
    tell_of_groups_topic(broker, {0: 77, 1: 77, 2: 2})
    assert ask(broker, 3, 0, "g1") == (ErrorCode.NONE, 2, 9093)
    assert ask(broker, 3, 0, "gr\u00fc\u00dfe") == (ErrorCode.COORDINATOR_NOT_AVAILABLE, -1, -1)


def tell_of_groups_topic(broker: LoneBroker, leaders: dict[int, int]) -> None:
    states = [
        UpdateMetadataPartitionState(partition_index=index, leader=leader, isr=[2], replicas=[2])
        for index, leader in leaders.items()
    ]
    topic = UpdateMetadataTopicState(topic_name=COORDINATORS_TOPICS[0], partition_states=states)
    endpoint = UpdateMetadataEndpoint(host="h", port=9093, listener="PLAINTEXT")
    broker.ask(
        UpdateMetadataRequest(
            controller_id=1,
            controller_epoch=1,
            topic_states=[topic],
            live_brokers=[UpdateMetadataBroker(id=2, endpoints=[endpoint])],
        ),
        8,
    )


@every_find
@pytest.mark.parametrize(("key_type", "since"), [(2, 6), (3, 99), (-1, 99), (127, 99)])
def test_what_nobody_coordinates(
    broker: LoneBroker, version: int, key_type: int, since: int
) -> None:
    if version == 0:
        return  # it knows groups alone
    known = version >= since
    expected = ErrorCode.COORDINATOR_NOT_AVAILABLE if known else ErrorCode.INVALID_REQUEST
    assert ask(broker, version, key_type) == (expected, -1, -1)


@pytest.mark.parametrize("version", range(4, 7))
def test_several_keys_are_answered_one_by_one(broker: LoneBroker, version: int) -> None:
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=["a", "", "a"])
    reply = broker.ask(request, version)
    assert [each.key for each in reply.coordinators] == ["a", "", "a"]


@init_versions
def test_every_producer_gets_an_id_of_its_own(broker: LoneBroker, version: int) -> None:
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=-1)
    replies = [broker.ask(request, version) for _ in range(1100)]
    assert {(reply.error_code, reply.producer_epoch) for reply in replies} == {(0, 0)}
    assert len({reply.producer_id for reply in replies}) == len(replies)


@pytest.mark.parametrize("version", range(3, 6))
@pytest.mark.parametrize(
    ("producer_id", "epoch", "error"),
    [
        (-1, 3, ErrorCode.INVALID_REQUEST),
        (5, -1, ErrorCode.INVALID_REQUEST),
        (5, 3, ErrorCode.NONE),
        (2**63 - 1, 2**15 - 1, ErrorCode.NONE),
    ],
)
def test_a_producer_that_has_an_id(
    broker: LoneBroker, version: int, producer_id: int, epoch: int, error: ErrorCode
) -> None:
    request = InitProducerIdRequest(
        transactional_id=None,
        transaction_timeout_ms=-1,
        producer_id=producer_id,
        producer_epoch=epoch,
    )
    assert broker.ask(request, version).error_code == error
