"""What each API asks of the authorizer, and what those are answered who may not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from logquake.node.authorizer.acl_set import VersionedAcls
from logquake.wire.acls import (
    AccessControlEntry,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourceType,
)
from logquake.wire.api import ApiKey, request_type
from logquake.wire.error_codes import error_codes
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    DescribeConfigsRequest,
    DescribeConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)
from logquake.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from logquake.wire.messages.find_coordinator import FindCoordinatorRequest
from logquake.wire.messages.leader_and_isr import LeaderAndIsrRequest
from logquake.wire.messages.metadata import (
    DescribeClusterRequest,
    MetadataRequest,
    MetadataRequestTopic,
)
from logquake.wire.messages.offsets import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from logquake.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from logquake.wire.messages.quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    EntityData,
)
from logquake.wire.messages.topics import (
    CreatableTopic,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DeleteTopicState,
)
from logquake.wire.messages.transactions import InitProducerIdRequest
from logquake.wire.principals import KafkaPrincipal
from logquake.wire.uuids import ZERO_UUID
from tests.unit.node.requests.lone_broker import LoneBroker

ALICE = KafkaPrincipal("User", "alice")
DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
CLUSTER_DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
UNSAID = -(2**31)


@pytest.fixture
def properties() -> dict[str, str]:
    return {
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:ANONYMOUS",
    }


@pytest.fixture
def allow(broker: LoneBroker) -> Callable[..., None]:
    """``allow("read", "orders")``: alice may; nothing else that was allowed of it before."""

    def allow(operation: str, name: str, kind: str = "topic") -> None:
        acls = broker.parts.acls
        assert acls is not None
        pattern = ResourcePattern(ResourceType[kind.upper()], name, PatternType.LITERAL)
        entry = AccessControlEntry(
            ALICE, "*", AclOperation[operation.upper()], AclPermissionType.ALLOW
        )
        acls.authorizer.put(pattern, VersionedAcls((entry,), 0))

    return allow


def ask(broker: LoneBroker, message: Any, version: int) -> Any:
    return broker.ask(message, version, principal=ALICE)


# A request of each key about the cluster as a whole, as empty as it may be.
CLUSTER_WIDE = {
    ApiKey.LEADER_AND_ISR: "cluster_action",
    ApiKey.STOP_REPLICA: "cluster_action",
    ApiKey.UPDATE_METADATA: "cluster_action",
    ApiKey.CONTROLLED_SHUTDOWN: "cluster_action",
    ApiKey.ALTER_PARTITION: "cluster_action",
    ApiKey.ALLOCATE_PRODUCER_IDS: "cluster_action",
    ApiKey.ENVELOPE: "cluster_action",
    ApiKey.DESCRIBE_ACLS: "describe",
    ApiKey.DESCRIBE_LOG_DIRS: "describe",
    ApiKey.DESCRIBE_CLIENT_QUOTAS: "describe_configs",
}


@pytest.mark.parametrize("key", CLUSTER_WIDE, ids=lambda key: ApiKey(key).name)
def test_of_the_cluster_as_a_whole(
    broker: LoneBroker, allow: Callable[..., None], key: ApiKey
) -> None:
    kind: Any = request_type(key)
    fields = {"operation": 1, "permission_type": 1, "resource_type_filter": 1}
    request = kind(**fields) if key == ApiKey.DESCRIBE_ACLS else kind()
    for version in broker.served[key]:
        if key == ApiKey.DESCRIBE_LOG_DIRS and version < 3:
            continue  # has no error code, and says nothing
        assert ask(broker, request, version).error_code == CLUSTER_DENIED, version
    allow(CLUSTER_WIDE[key], "kafka-cluster", "cluster")
    answer = ask(broker, request, broker.served[key][-1])
    assert CLUSTER_DENIED not in error_codes(answer)


def test_each_entity_whose_quotas_may_not_be_altered_is_told(
    broker: LoneBroker, allow: Callable[..., None]
) -> None:
    entities = [[EntityData(entity_type="user", entity_name=name)] for name in ("bob", "bob", "")]
    entries = [AlterClientQuotasRequestEntryData(entity=entity) for entity in entities]
    for version in range(2):
        answer = ask(broker, AlterClientQuotasRequest(entries=entries), version)
        told = [(each.error_code, each.error_message, each.entity) for each in answer.entries]
        denied = CLUSTER_DENIED, "Cluster authorization failed."
        assert told == [(*denied, entity) for entity in entities]
    allow("alter_configs", "kafka-cluster", "cluster")
    answer = ask(broker, AlterClientQuotasRequest(entries=entries[:2]), 1)
    assert [(each.error_code, each.entity) for each in answer.entries] == [(0, entities[0])]


def test_a_refused_controller_is_told_so_of_every_partition(broker: LoneBroker) -> None:
    answer = ask(broker, LeaderAndIsrRequest(), 7)
    assert (answer.error_code, answer.topics) == (CLUSTER_DENIED, [])


@pytest.mark.parametrize("version", range(3, 12))
def test_produce(
    broker: LoneBroker, allow: Callable[..., None], batch: Callable[..., bytes], version: int
) -> None:
    allow("write", "orders")
    data = PartitionProduceData(index=0, records=memoryview(bytearray(batch(b"one"))))
    topics = [
        TopicProduceData(name=name, partition_data=[data]) for name in ("orders", "secret", "none")
    ]
    answer = ask(broker, ProduceRequest(acks=1, timeout_ms=0, topic_data=topics), version)
    assert {topic.name: topic.partition_responses[0].error_code for topic in answer.responses} == {
        "orders": 0,
        "secret": DENIED,
        "none": DENIED,
    }


def fetch(version: int, *topics: Any, **fields: Any) -> Any:
    by_id = version >= 13
    asked = [
        FetchTopic(
            **({"topic_id": each} if by_id else {"topic": each}),
            partitions=[FetchPartition(partition=0, partition_max_bytes=1000)],
        )
        for each in topics
    ]
    return FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=1000, topics=asked, **fields)


def fetched(answer: Any, version: int) -> dict[Any, int]:
    return {
        topic.topic_id if version >= 13 else topic.topic: topic.partitions[0].error_code
        for topic in answer.responses
    }


@pytest.mark.parametrize("version", [0, 4, 7, 11, 12, 13, 17])
def test_fetch(broker: LoneBroker, allow: Callable[..., None], version: int) -> None:
    allow("read", "orders")
    named: list[Any] = ["orders", "elsewhere", "nowhere"]
    errors = [0, DENIED, DENIED]
    if version >= 13:
        named = [broker.topic_id("orders"), broker.topic_id("elsewhere"), b"\x09" * 16]
        errors = [0, DENIED, ErrorCode.UNKNOWN_TOPIC_ID]
    answer = ask(broker, fetch(version, *named), version)
    assert fetched(answer, version) == dict(zip(named, errors, strict=True))


def test_a_session_hears_when_what_it_may_read_changes(
    broker: LoneBroker, allow: Callable[..., None]
) -> None:
    allow("read", "orders")
    opened = ask(broker, fetch(12, "orders", session_epoch=0), 12)
    assert opened.responses[0].partitions[0].error_code == 0
    session = {"session_id": opened.session_id, "session_epoch": 1}
    assert ask(broker, fetch(12, **session), 12).responses == []
    allow("write", "orders")
    session["session_epoch"] = 2
    assert fetched(ask(broker, fetch(12, **session), 12), 12) == {"orders": DENIED}
    session["session_epoch"] = 3
    assert fetched(ask(broker, fetch(12, **session), 12), 12) == {"orders": DENIED}
    allow("read", "orders")
    session["session_epoch"] = 4
    assert fetched(ask(broker, fetch(12, **session), 12), 12) == {"orders": 0}


def test_somebody_elses_session_shows_nothing(broker: LoneBroker) -> None:
    opened = broker.ask(fetch(12, "orders", session_epoch=0), 12)  # by a super user
    stolen = fetch(12, session_id=opened.session_id, session_epoch=1)
    assert fetched(ask(broker, stolen, 12), 12) == {"orders": DENIED}


def test_a_followers_fetch_needs_cluster_action(
    broker: LoneBroker, allow: Callable[..., None]
) -> None:
    allow("read", "orders")
    request = fetch(12, "orders", replica_id=2)
    assert fetched(ask(broker, request, 12), 12) == {"orders": DENIED}
    allow("cluster_action", "kafka-cluster", "cluster")
    assert fetched(ask(broker, request, 12), 12)["orders"] != DENIED


@pytest.mark.parametrize("version", range(10))
def test_list_offsets(broker: LoneBroker, allow: Callable[..., None], version: int) -> None:
    allow("read", "orders")
    asked = ListOffsetsPartition(partition_index=0, timestamp=-1)
    if version == 0:
        asked.max_num_offsets = 1
    topics = [ListOffsetsTopic(name=name, partitions=[asked]) for name in ("secret", "orders")]
    answer = ask(broker, ListOffsetsRequest(replica_id=-1, topics=topics), version)
    told = [(topic.name, topic.partitions[0].error_code) for topic in answer.topics]
    assert told == [("orders", 0), ("secret", DENIED)]


@pytest.mark.parametrize("version", range(5))
def test_offset_for_leader_epoch(
    broker: LoneBroker, allow: Callable[..., None], version: int
) -> None:
    allow("describe", "orders")
    asked = OffsetForLeaderPartition(partition=0, leader_epoch=0)
    topics = [OffsetForLeaderTopic(topic=name, partitions=[asked]) for name in ("secret", "orders")]
    request = OffsetForLeaderEpochRequest(topics=topics)
    answer = ask(broker, request, version)
    told = [(topic.topic, topic.partitions[0].error_code) for topic in answer.topics]
    assert told == [("orders", 0), ("secret", DENIED)]
    allow("cluster_action", "kafka-cluster", "cluster")
    answer = ask(broker, request, version)
    assert DENIED not in error_codes(answer)


def metadata(broker: LoneBroker, version: int, *names: str, **fields: Any) -> dict[Any, int]:
    topics = [MetadataRequestTopic(name=name) for name in names]
    answer = ask(broker, MetadataRequest(topics=topics, **fields), version)
    return {topic.name: topic.error_code for topic in answer.topics}


@pytest.mark.parametrize("version", range(13))
def test_metadata(broker: LoneBroker, allow: Callable[..., None], version: int) -> None:
    allow("write", "orders")
    everything = MetadataRequest(topics=None if version else [])
    assert [topic.name for topic in ask(broker, everything, version).topics] == ["orders"]
    assert metadata(broker, version, "orders", "elsewhere", "nowhere") == {
        "orders": 0,
        "elsewhere": DENIED,
        "nowhere": DENIED,
    }


def test_metadata_by_id_withholds_the_name(broker: LoneBroker) -> None:
    topic_id = broker.topic_id("orders")
    asked = MetadataRequest(topics=[MetadataRequestTopic(topic_id=topic_id, name=None)])
    (topic,) = ask(broker, asked, 12).topics
    assert (topic.name, topic.topic_id, topic.error_code) == (None, topic_id, DENIED)


def test_topics_are_made_for_those_who_may_create_them(
    broker: LoneBroker, allow: Callable[..., None]
) -> None:
    allow("describe", "new")
    assert metadata(broker, 12, "new") == {"new": DENIED}
    allow("all", "new")
    assert metadata(broker, 12, "new") == {"new": ErrorCode.LEADER_NOT_AVAILABLE}
    allow("describe", "newer")
    allow("create", "kafka-cluster", "cluster")
    assert metadata(broker, 12, "newer") == {"newer": ErrorCode.LEADER_NOT_AVAILABLE}


def test_operations_are_those_that_are_allowed(
    broker: LoneBroker, allow: Callable[..., None]
) -> None:
    allow("write", "orders")
    asked = MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in ("orders", "secret")],
        include_topic_authorized_operations=True,
        include_cluster_authorized_operations=True,
    )
    answer = ask(broker, asked, 9)
    orders, secret = answer.topics
    assert orders.topic_authorized_operations == 1 << 4 | 1 << 8
    assert secret.topic_authorized_operations == UNSAID
    assert answer.cluster_authorized_operations == 0
    allow("alter", "kafka-cluster", "cluster")
    described = ask(broker, DescribeClusterRequest(include_cluster_authorized_operations=True), 1)
    assert described.cluster_authorized_operations == 1 << 7 | 1 << 8


@pytest.mark.parametrize("version", range(7))
def test_find_coordinator(broker: LoneBroker, allow: Callable[..., None], version: int) -> None:
    def find(key_type: int) -> tuple[int, str]:
        keys = {"coordinator_keys": ["k"]} if version >= 4 else {"key": "k"}
        answer = ask(broker, FindCoordinatorRequest(key_type=key_type, **keys), version)
        told = answer.coordinators[0] if version >= 4 else answer
        return told.error_code, told.error_message

    unsaid = version >= 4 or version == 0
    told = "" if unsaid else "Group authorization failed."
    assert find(0) == (ErrorCode.GROUP_AUTHORIZATION_FAILED, told)
    if version > 0:
        told = "" if unsaid else "Transactional Id authorization failed."
        assert find(1) == (ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, told)
    allow("read", "k", "group")
    assert find(0)[0] == ErrorCode.COORDINATOR_NOT_AVAILABLE
    if version == 6:
        assert find(2)[0] == CLUSTER_DENIED


def create(broker: LoneBroker, *names: str, version: int = 7) -> list[tuple[Any, ...]]:
    topics = [CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in names]
    answer = ask(broker, CreateTopicsRequest(topics=topics, timeout_ms=10_000), version)
    return [(one.name, one.error_code, one.error_message) for one in answer.topics]


def test_create_topics(broker: LoneBroker, allow: Callable[..., None]) -> None:
    refused = (DENIED, "Authorization failed.")
    twice = (ErrorCode.INVALID_REQUEST, "Found multiple entries for this topic.")
    allow("create", "new")
    assert create(broker, "secret", "new", "twice", "twice") == [
        ("secret", *refused),
        ("new", 0, None),
        ("twice", *twice),
        ("twice", *twice),
    ]
    allow("create", "kafka-cluster", "cluster")
    assert create(broker, "newer") == [("newer", 0, None)]


def test_how_a_topic_was_made_is_for_those_who_may_describe_its_configuration(
    broker: LoneBroker, allow: Callable[..., None]
) -> None:
    allow("create", "kafka-cluster", "cluster")

    def made(name: str) -> Any:
        topic = CreatableTopic(name=name, num_partitions=3, replication_factor=1)
        request = CreateTopicsRequest(topics=[topic], timeout_ms=10_000)
        return ask(broker, request, 7).topics[0]

    hidden = made("a")
    assert (hidden.error_code, hidden.topic_config_error_code) == (0, DENIED)
    assert (hidden.num_partitions, hidden.topic_id) == (-1, ZERO_UUID)
    allow("describe_configs", "b")
    told = made("b")
    assert (told.error_code, told.topic_config_error_code, told.num_partitions) == (0, 0, 3)
    assert told.topic_id != ZERO_UUID


def test_delete_topics(broker: LoneBroker, allow: Callable[..., None]) -> None:
    ids = {name: broker.topic_id(name) for name in ("orders",)}

    def delete(**state: Any) -> tuple[Any, ...]:
        request = DeleteTopicsRequest(topics=[DeleteTopicState(**state)], timeout_ms=10_000)
        (one,) = ask(broker, request, 6).responses
        return one.name, one.topic_id, one.error_code

    by_id = {"topic_id": ids["orders"], "name": None}
    assert delete(name="orders") == ("orders", ZERO_UUID, DENIED)
    assert delete(name="nowhere") == ("nowhere", ZERO_UUID, DENIED)
    assert delete(**by_id) == (None, ids["orders"], DENIED)
    allow("describe", "orders")
    assert delete(**by_id) == ("orders", ids["orders"], DENIED)
    unknown = b"\x09" * 16
    assert delete(topic_id=unknown, name=None) == (None, unknown, ErrorCode.UNKNOWN_TOPIC_ID)
    allow("delete", "orders")
    assert delete(**by_id) == ("orders", ids["orders"], 0)


@pytest.mark.parametrize("version", range(3))
def test_delete_records(broker: LoneBroker, allow: Callable[..., None], version: int) -> None:
    asked = DeleteRecordsPartition(partition_index=0, offset=-1)
    topics = [DeleteRecordsTopic(name=name, partitions=[asked]) for name in ("orders", "nowhere")]

    def delete() -> list[int]:
        request = DeleteRecordsRequest(topics=topics, timeout_ms=1000)
        answer = ask(broker, request, version)
        return [topic.partitions[0].error_code for topic in answer.topics]

    assert delete() == [DENIED, DENIED]
    allow("delete", "orders")
    assert delete() == [0, DENIED]


def test_init_producer_id(broker: LoneBroker, allow: Callable[..., None]) -> None:
    def init(transactional_id: str | None = None) -> int:
        request = InitProducerIdRequest(
            transactional_id=transactional_id, producer_id=-1, producer_epoch=-1
        )
        code: int = ask(broker, request, 4).error_code
        return code

    assert init() == CLUSTER_DENIED
    assert init("t") == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    allow("write", "anything")
    assert init() == 0
    allow("read", "anything")
    assert init() == CLUSTER_DENIED
    allow("idempotent_write", "kafka-cluster", "cluster")
    assert init() == 0


def described(broker: LoneBroker) -> list[tuple[str, int]]:
    resources = [
        DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
        for kind, name in ((4, "1"), (2, "orders"), (2, "elsewhere"))
    ]
    results = ask(broker, DescribeConfigsRequest(resources=resources), 4).results
    return [(result.resource_name, result.error_code) for result in results]


def test_describe_configs_tells_last_of_what_may_not_be_seen(
    broker: LoneBroker, allow: Callable[..., None]
) -> None:
    allow("describe_configs", "orders")
    assert described(broker) == [("orders", 0), ("1", CLUSTER_DENIED), ("elsewhere", DENIED)]
    allow("describe_configs", "kafka-cluster", "cluster")
    assert described(broker) == [("1", 0), ("orders", 0), ("elsewhere", DENIED)]


@pytest.mark.parametrize("replaces", [True, False])
def test_alter_configs(broker: LoneBroker, allow: Callable[..., None], replaces: bool) -> None:
    """What is wrong with a change of a broker is told before whether it is allowed."""
    asked = [(4, "1"), (4, "7"), (2, "orders"), (2, "elsewhere"), (2, "nowhere")]

    def errors() -> list[int]:
        if replaces:
            old = [AlterConfigsResource(resource_type=k, resource_name=n) for k, n in asked]
            answer = ask(broker, AlterConfigsRequest(resources=old), 2)
        else:
            new = [
                IncrementalAlterConfigsResource(resource_type=k, resource_name=n) for k, n in asked
            ]
            answer = ask(broker, IncrementalAlterConfigsRequest(resources=new), 1)
        return [response.error_code for response in answer.responses]

    malformed = ErrorCode.INVALID_REQUEST
    assert errors() == [CLUSTER_DENIED, malformed, DENIED, DENIED, DENIED]
    allow("alter_configs", "orders")
    allow("alter_configs", "nowhere")
    allow("alter_configs", "kafka-cluster", "cluster")
    assert errors() == [0, malformed, 0, DENIED, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
