"""DescribeAcls, CreateAcls and DeleteAcls through the broker's door, and what lies in ZooKeeper."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.wire.errors import ErrorCode
from logquake.wire.messages.acls import (
    AclCreation,
    CreateAclsRequest,
    DeleteAclsFilter,
    DeleteAclsRequest,
    DescribeAclsRequest,
)
from logquake.zk.operations import Children, Data, GetChildren, GetData, SetData
from tests.unit.node.requests.lone_broker import LoneBroker, NoReplyError

TOPIC, GROUP, CLUSTER = 2, 3, 4
ANY, MATCH, LITERAL, PREFIXED = 1, 2, 3, 4
READ, WRITE = 3, 4
DENY, ALLOW = 2, 3
VERSIONS = pytest.mark.parametrize("version", range(4))


@pytest.fixture
def properties() -> dict[str, str]:
    return {
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:ANONYMOUS",
    }


def acl(name: str = "orders", **fields: Any) -> AclCreation:
    wanted = {
        "resource_type": TOPIC,
        "resource_pattern_type": LITERAL,
        "principal": "User:alice",
        "host": "*",
        "operation": READ,
        "permission_type": ALLOW,
    }
    return AclCreation(resource_name=name, **{**wanted, **fields})


def create(broker: LoneBroker, *acls: AclCreation, version: int = 3) -> list[Any]:
    answer = broker.ask(CreateAclsRequest(creations=list(acls)), version)
    return [(each.error_code, each.error_message) for each in answer.results]


def a_filter(kind: Any, version: int = 3, **fields: Any) -> Any:
    wanted = {
        "resource_type_filter": 1,
        "resource_name_filter": None,
        "pattern_type_filter": ANY if version else LITERAL,
        "principal_filter": None,
        "host_filter": None,
        "operation": 1,
        "permission_type": 1,
    }
    return kind(**{**wanted, **fields})


def describe(broker: LoneBroker, version: int = 3, **fields: Any) -> list[str]:
    asked = a_filter(DescribeAclsRequest, version, **fields)
    answer = broker.ask(asked, version)
    assert (answer.error_code, answer.error_message) == (0, "")
    return [
        f"{resource.resource_type}:{resource.resource_name}:{resource.pattern_type}"
        f" {each.principal} {each.operation} {each.permission_type} {each.host}"
        for resource in answer.resources
        for each in resource.acls
    ]


def delete(broker: LoneBroker, *filters: DeleteAclsFilter, version: int = 3) -> list[list[str]]:
    answer = broker.ask(DeleteAclsRequest(filters=list(filters)), version)
    assert all(one.error_code == 0 for one in answer.filter_results)
    return [
        [
            f"{each.resource_name}:{each.pattern_type} {each.principal} {each.error_code}"
            for each in one.matching_acls
        ]
        for one in answer.filter_results
    ]


def znode(broker: LoneBroker, path: str) -> bytes:
    (session_id,) = broker.zookeeper.model.sessions
    found, _ = broker.zookeeper.model.apply(session_id, GetData(path))
    assert isinstance(found, Data), found
    return found.data


def notices(broker: LoneBroker, path: str) -> list[bytes]:
    (session_id,) = broker.zookeeper.model.sessions
    found, _ = broker.zookeeper.model.apply(session_id, GetChildren(path))
    assert isinstance(found, Children)
    return [znode(broker, f"{path}/{name}") for name in found.names]


@VERSIONS
def test_what_is_made_is_described_and_removed(broker: LoneBroker, version: int) -> None:
    assert create(broker, acl(), acl(operation=WRITE), version=version) == [(0, ""), (0, "")]
    told = ["2:orders:3 User:alice 3 3 *", "2:orders:3 User:alice 4 3 *"]
    assert describe(broker, version) == told
    assert delete(broker, a_filter(DeleteAclsFilter, version, operation=READ), version=version) == [
        ["orders:3 User:alice 0"]
    ]
    assert describe(broker, version) == told[1:]


def test_znodes_as_kafka_writes_them(broker: LoneBroker) -> None:
    create(broker, acl(), acl("in", resource_pattern_type=PREFIXED, permission_type=DENY))
    assert znode(broker, "/kafka-acl/Topic/orders") == (
        b'{"acls":[{"principal":"User:alice","permissionType":"Allow","host":"*",'
        b'"operation":"Read"}],"version":1}'
    )
    assert znode(broker, "/kafka-acl-extended/prefixed/Topic/in") == (
        b'{"acls":[{"principal":"User:alice","permissionType":"Deny","host":"*",'
        b'"operation":"Read"}],"version":1}'
    )
    assert notices(broker, "/kafka-acl-changes") == [b"TOPIC:orders"]
    assert notices(broker, "/kafka-acl-extended-changes") == [
        b'{"version":1,"resourceType":"TOPIC","name":"in","patternType":"PREFIXED"}'
    ]


def test_nothing_is_told_of_what_changes_nothing(broker: LoneBroker) -> None:
    assert create(broker, acl()) == create(broker, acl()) == [(0, "")]
    assert notices(broker, "/kafka-acl-changes") == [b"TOPIC:orders"]
    assert describe(broker) == ["2:orders:3 User:alice 3 3 *"]


def test_patterns_that_apply_to_a_name(broker: LoneBroker) -> None:
    create(
        broker,
        acl("orders"),
        acl("or", resource_pattern_type=PREFIXED),
        acl("*"),
        acl("others"),
        acl("orders", resource_type=GROUP),
    )
    matching: dict[str, Any] = {"resource_name_filter": "orders", "resource_type_filter": TOPIC}
    names = [each.split()[0] for each in describe(broker, pattern_type_filter=MATCH, **matching)]
    assert names == ["2:*:3", "2:or:4", "2:orders:3"]
    names = [each.split()[0] for each in describe(broker, pattern_type_filter=ANY, **matching)]
    assert names == ["2:orders:3"]
    assert delete(broker, a_filter(DeleteAclsFilter, pattern_type_filter=MATCH, **matching)) == [
        ["*:3 User:alice 0", "or:4 User:alice 0", "orders:3 User:alice 0"]
    ]


def test_an_acl_that_two_filters_mean_is_told_of_the_first(broker: LoneBroker) -> None:
    create(broker, acl(), acl(operation=WRITE))
    wanted = [a_filter(DeleteAclsFilter, operation=WRITE), a_filter(DeleteAclsFilter)]
    assert delete(broker, *wanted) == [["orders:3 User:alice 0"], ["orders:3 User:alice 0"]]
    assert describe(broker) == []


REFUSED = [
    (
        acl("orders", resource_type=CLUSTER),
        "The only valid name for the CLUSTER resource is kafka-cluster",
    ),
    (acl(""), "Invalid empty resource name"),
    (acl("a/b"), "Failed to create ACL"),
]


@pytest.mark.parametrize(("refused", "why"), REFUSED)
def test_a_name_that_cannot_be_hinders_no_other(
    broker: LoneBroker, refused: AclCreation, why: str
) -> None:
    assert create(broker, refused, acl()) == [(ErrorCode.INVALID_REQUEST, why), (0, "")]


@pytest.mark.parametrize("name", [".", "..", "a\0b", "\x7f"])
def test_names_that_zookeeper_refuses(broker: LoneBroker, name: str) -> None:
    assert create(broker, acl(name), acl()) == [(-1, None), (0, "")]
    assert delete(
        broker, a_filter(DeleteAclsFilter, resource_type_filter=TOPIC, resource_name_filter=name)
    ) == [[]]


def test_a_principal_without_a_type_spoils_its_resource(broker: LoneBroker) -> None:
    wanted = [acl(principal="alice"), acl(operation=WRITE), acl("others")]
    assert create(broker, *wanted) == [(-1, None), (-1, None), (0, "")]


def test_what_only_a_filter_may_say_fails_the_whole_request(broker: LoneBroker) -> None:
    wrongs: tuple[dict[str, Any], ...] = (
        {"operation": 1},
        {"permission_type": 1},
        {"resource_type": 1},
        {"resource_pattern_type": MATCH},
    )
    for wrong in wrongs:
        assert create(broker, acl(), acl(**wrong)) == [(-1, None), (-1, None)]
    assert describe(broker) == []


@pytest.mark.parametrize(
    "field", ["operation", "permission_type", "resource_type_filter", "pattern_type_filter"]
)
def test_unknown_elements_end_the_connection(broker: LoneBroker, field: str) -> None:
    for asked in (
        a_filter(DescribeAclsRequest, **{field: 99}),
        DeleteAclsRequest(filters=[a_filter(DeleteAclsFilter, **{field: 0})]),
    ):
        with pytest.raises(NoReplyError, match="unknown elements"):
            broker.ask(asked, 3)


def test_version_0_knows_no_patterns(broker: LoneBroker) -> None:
    create(broker, acl(), acl("or", resource_pattern_type=PREFIXED))
    assert describe(broker, 0) == ["2:orders:3 User:alice 3 3 *"]


class TestWithoutAnAuthorizer:
    @pytest.fixture
    def properties(self) -> dict[str, str]:
        return {}

    @VERSIONS
    def test_security_is_disabled(self, broker: LoneBroker, version: int) -> None:
        disabled = ErrorCode.SECURITY_DISABLED
        assert create(broker, acl(), version=version) == [
            (disabled, "No Authorizer is configured.")
        ]
        answer = broker.ask(a_filter(DescribeAclsRequest, version), version)
        told = answer.error_code, answer.error_message
        assert told == (disabled, "No Authorizer is configured on the broker")
        answer = broker.ask(
            DeleteAclsRequest(filters=[a_filter(DeleteAclsFilter, version)]), version
        )
        (one,) = answer.filter_results
        assert (one.error_code, one.error_message) == (disabled, "No Authorizer is configured.")


def test_another_brokers_changes_are_read_when_it_tells_of_them(broker: LoneBroker) -> None:
    create(broker, acl())
    zookeeper = broker.zookeeper
    (session_id,) = zookeeper.model.sessions
    path = "/kafka-acl/Topic/orders"
    text = znode(broker, path).replace(b"alice", b"bob")
    zookeeper.model.apply(session_id, SetData(path, text))
    assert describe(broker) == ["2:orders:3 User:alice 3 3 *"]
    assert create(broker, acl(principal="User:carol")) == [(0, "")]  # over what is there by now
    assert describe(broker) == ["2:orders:3 User:bob 3 3 *", "2:orders:3 User:carol 3 3 *"]
