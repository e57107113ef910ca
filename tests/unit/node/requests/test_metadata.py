"""Metadata, DescribeCluster and ApiVersions, in every version that is served."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.node.requests.api_versions import ApiVersions
from logquake.node.requests.describe_cluster import DescribeCluster
from logquake.node.requests.metadata import Metadata
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.api_versions import ApiVersionsRequest
from logquake.wire.messages.metadata import (
    DescribeClusterRequest,
    MetadataRequest,
    MetadataRequestTopic,
)
from logquake.wire.uuids import ZERO_UUID
from tests.unit.node.requests.lone_broker import LoneBroker

every_version = pytest.mark.parametrize("version", Metadata.versions)


def by_name(*names: str | None, **rest: Any) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names], **rest)


def all_topics(version: int) -> MetadataRequest:
    return MetadataRequest(topics=[] if version == 0 else None)


@every_version
def test_all_topics(broker: LoneBroker, version: int) -> None:
    reply = broker.ask(all_topics(version), version)
    assert [(topic.name, len(topic.partitions)) for topic in reply.topics] == [
        ("elsewhere", 1),
        ("orders", 2),
    ]
    assert [(node.node_id, node.port) for node in reply.brokers] == [(1, 9092), (2, 9093)]
    assert [node.rack for node in reply.brokers] == ([None, "east"] if version else [None, None])
    assert reply.controller_id == (1 if version else -1)
    assert (reply.cluster_id is None) == (version < 2)
    orders = reply.topics[1]
    assert (orders.topic_id == ZERO_UUID) == (version < 10)
    first = orders.partitions[0]
    assert (first.error_code, first.leader_id) == (0, 1)
    assert (first.replica_nodes, first.isr_nodes) == ([1], [1])
    assert first.leader_epoch == (0 if version >= 7 else -1)


@pytest.mark.parametrize("version", range(1, 13))
def test_no_topics_is_none_from_version_1_on(broker: LoneBroker, version: int) -> None:
    assert broker.ask(MetadataRequest(topics=[]), version).topics == []


@every_version
def test_a_topic_is_told_once_however_often_it_is_named(broker: LoneBroker, version: int) -> None:
    reply = broker.ask(by_name("orders", "elsewhere", "orders"), version)
    assert sorted(topic.name for topic in reply.topics) == ["elsewhere", "orders"]


@every_version
def test_names_that_no_topic_may_have(broker: LoneBroker, version: int) -> None:
    names = ["", ".", "..", "no spaces", "x" * 250]
    reply = broker.ask(by_name(*names), version)
    assert {topic.error_code for topic in reply.topics} == {ErrorCode.INVALID_TOPIC_EXCEPTION}


@every_version
def test_a_topic_asked_for_is_made(broker: LoneBroker, version: int) -> None:
    (before,) = broker.ask(by_name("fresh"), version).topics
    assert (before.error_code, before.name) == (ErrorCode.LEADER_NOT_AVAILABLE, "fresh")
    broker.settle()
    (after,) = broker.ask(by_name("fresh"), version).topics
    assert (after.error_code, len(after.partitions)) == (0, 1)


@pytest.mark.parametrize("version", range(4, 13))
def test_a_topic_is_not_made_when_the_client_forbids_it(broker: LoneBroker, version: int) -> None:
    request = by_name("fresh", allow_auto_topic_creation=False)
    for _ in range(2):
        (topic,) = broker.ask(request, version).topics
        assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        broker.settle()


@pytest.mark.parametrize("version", [10, 11])
def test_before_version_12_topics_have_a_name_and_no_id(broker: LoneBroker, version: int) -> None:
    for wrong in (
        MetadataRequestTopic(name=None),
        MetadataRequestTopic(name="orders", topic_id=broker.topic_id("orders")),
    ):
        (topic,) = broker.ask(MetadataRequest(topics=[wrong]), version).topics
        assert (topic.error_code, topic.name) == (ErrorCode.INVALID_REQUEST, wrong.name or "")


def test_version_12_asks_by_id(broker: LoneBroker) -> None:
    ids = [broker.topic_id("orders"), b"\x09" * 16]
    topics = [MetadataRequestTopic(topic_id=each, name=None) for each in ids]
    reply = broker.ask(MetadataRequest(topics=topics), 12)
    assert {(topic.name, topic.error_code) for topic in reply.topics} == {
        ("orders", ErrorCode.NONE),
        (None, ErrorCode.UNKNOWN_TOPIC_ID),
    }


def test_version_12_with_neither_name_nor_id_asks_for_nothing(broker: LoneBroker) -> None:
    assert broker.ask(by_name(None), 12).topics == []


@pytest.mark.parametrize("version", range(8, 13))
def test_what_a_client_may_do(broker: LoneBroker, version: int) -> None:
    """KIP-430; the cluster's moved to DescribeCluster with version 11 (KIP-700)."""
    wanted = {"include_topic_authorized_operations": True}
    if version <= 10:
        wanted["include_cluster_authorized_operations"] = True
    reply = broker.ask(by_name("orders", **wanted), version)
    assert reply.topics[0].topic_authorized_operations == 0b1101_1111_1000
    unsaid = -(2**31)
    assert (reply.cluster_authorized_operations != unsaid) == (version <= 10)
    reply = broker.ask(by_name("orders"), version)
    assert reply.topics[0].topic_authorized_operations == unsaid
    assert reply.cluster_authorized_operations == unsaid


@pytest.mark.parametrize("version", DescribeCluster.versions)
def test_describe_cluster(broker: LoneBroker, version: int) -> None:
    reply = broker.ask(DescribeClusterRequest(include_cluster_authorized_operations=True), version)
    assert (reply.error_code, reply.controller_id) == (0, 1)
    assert [(each.broker_id, each.rack) for each in reply.brokers] == [(1, None), (2, "east")]
    assert len(reply.cluster_id) == 22
    assert reply.cluster_authorized_operations > 0


@pytest.mark.parametrize(
    ("endpoint_type", "error"),
    [
        (2, ErrorCode.MISMATCHED_ENDPOINT_TYPE),
        (0, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE),
        (-1, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE),
    ],
)
def test_describe_cluster_of_other_endpoints(
    broker: LoneBroker, endpoint_type: int, error: ErrorCode
) -> None:
    reply = broker.ask(DescribeClusterRequest(endpoint_type=endpoint_type), 1)
    assert (reply.error_code, reply.brokers) == (error, [])


@pytest.mark.parametrize("version", ApiVersions.versions)
def test_api_versions_tells_what_is_served(broker: LoneBroker, version: int) -> None:
    request = ApiVersionsRequest(client_software_name="a-client", client_software_version="1.0.2")
    reply = broker.ask(request, version)
    told = {each.api_key: range(each.min_version, each.max_version + 1) for each in reply.api_keys}
    assert (reply.error_code, told) == (0, broker.served)
    assert reply.finalized_features_epoch == (0 if version >= 3 else -1)


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize("name", ["", "-", "a b", "naïve", "a-"])
def test_software_names_that_could_not_be_logged(
    broker: LoneBroker, version: int, name: str
) -> None:
    request = ApiVersionsRequest(client_software_name=name, client_software_version="1")
    assert broker.ask(request, version).error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("name", "internal"),
    [
        ("__consumer_offsets", True),
        ("__transaction_state", True),
        ("__share_group_state", True),
        ("__cluster_metadata", False),
        ("orders", False),
    ],
)
def test_kafkas_own_topics_are_told_from_others(
    broker: LoneBroker, name: str, internal: bool
) -> None:
    (topic,) = broker.ask(by_name(name, allow_auto_topic_creation=False), 12).topics
    assert topic.is_internal == internal


def test_nobody_makes_the_log_of_kraft_by_asking_about_it(broker: LoneBroker) -> None:
    (topic,) = broker.ask(by_name("__cluster_metadata"), 12).topics
    assert topic.error_code == ErrorCode.INVALID_REQUEST
