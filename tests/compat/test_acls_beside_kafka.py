"""ACLs beside a real Kafka 3.9: who may not is answered the same, in every version of every API.

Both brokers hear no names, so everyone is ANONYMOUS: who comes from 127.0.0.1, as the brokers do
themselves, may do everything, and the stranger comes from another address of this machine.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from logquake.cluster.api import Cluster
from logquake.wire.acls import AclOperation, AclPermissionType, PatternType, ResourceType
from logquake.wire.api import ApiKey, response_type
from logquake.wire.header import RequestHeader, decode_response, encode_request
from logquake.wire.messages.acls import (
    AclCreation,
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsFilter,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResponse,
)
from logquake.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from logquake.wire.schema import Struct
from tests.compat.filled_requests import filled
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.twins import Twin, both, twins_of
from tests.parts import joined
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.maven, pytest.mark.slow]

STRANGER = "127.0.0.9"
ADMIN = "127.0.0.1"
ACL_COMMAND = "kafka.admin.AclCommand"
PROPERTIES = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    # Until somebody writes the first ACL, which is then all that anybody may do.
    "allow.everyone.if.no.acl.found": "true",
    "auto.create.topics.enable": "false",
    "offsets.topic.num.partitions": 1,
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
}
# Kafka quotes the request as it prints it, with ports and the like.
_QUOTES = "Request Request("


class Guarded(Twin):
    def ask_as_stranger(self, request: Any, version: int) -> Any:
        """What it says, in a form that can be compared; an end of the connection is one."""
        key = type(request).__schema__.key
        answer: Any = response_type(key)
        header = RequestHeader(key, version, 1, "stranger")
        there = socket.create_connection(("127.0.0.1", self.port), PATIENCE_S, (STRANGER, 0))
        with there, there.makefile("rb") as answers:
            there.sendall(joined(encode_request(header, request)))
            size = int.from_bytes(answers.read(4))
            return plain(decode_response(answer, version, answers.read(size))[1]) if size else None

    def versions_of(self, key: ApiKey) -> list[int]:
        answer = self.ask(ApiVersionsRequest(), ApiVersionsResponse, 0)
        found = [each for each in answer.api_keys if each.api_key == key]
        return [v for each in found for v in range(each.min_version, each.max_version + 1)]


def plain(value: Any, name: str = "") -> Any:
    """Lists in an order that does not depend on who made them; without what differs by nature."""
    if isinstance(value, Struct):
        return {
            field: plain(getattr(value, field), field)
            for field in type(value).__schema__.fields
            if field not in ("port", "cluster_id", "topic_id", "timestamp", "session_id")
        }
    if isinstance(value, list):
        return sorted(map(plain, value), key=repr)
    if isinstance(value, memoryview):
        return bytes(value)
    if name == "error_message" and isinstance(value, str) and value.startswith(_QUOTES):
        return "Cluster authorization failed."
    return value


def acl(
    name: str,
    kind: ResourceType,
    operation: AclOperation = AclOperation.ALL,
    host: str = ADMIN,
    permission: AclPermissionType = AclPermissionType.ALLOW,
    pattern: PatternType = PatternType.LITERAL,
) -> AclCreation:
    return AclCreation(
        resource_type=kind,
        resource_name=name,
        resource_pattern_type=pattern,
        principal="User:ANONYMOUS",
        host=host,
        operation=operation,
        permission_type=permission,
    )


ALL_MINE = [
    acl("kafka-cluster", ResourceType.CLUSTER),
    acl("*", ResourceType.TOPIC),
    acl("*", ResourceType.GROUP),
    acl("*", ResourceType.TRANSACTIONAL_ID),
]


def create(twin: Twin, version: int, *creations: AclCreation) -> Any:
    request = CreateAclsRequest(creations=list(creations))
    return plain(twin.ask(request, CreateAclsResponse, version))


@pytest.fixture(scope="module")
def twins(
    kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Guarded, Guarded]]:
    folder = tmp_path_factory.mktemp("acls")
    with twins_of(Guarded, kafka_programs, cluster.zookeeper_connect, folder, PROPERTIES) as twins:
        for each in twins:
            for topic in ("open", "secret"):
                assert each.create(topic) == ("NONE", None)
            create(each, 3, *ALL_MINE)
        yield twins


@pytest.mark.parametrize("key", sorted(ApiKey), ids=lambda key: ApiKey(key).name)
def test_who_may_not_is_told_the_same(twins: tuple[Guarded, Guarded], key: ApiKey) -> None:
    ours, kafkas = twins
    versions = [each.versions_of(key) for each in twins]
    both_know = sorted(set(versions[0]) & set(versions[1]))
    if not both_know or key in (ApiKey.ENVELOPE, ApiKey.SASL_HANDSHAKE, ApiKey.API_VERSIONS):
        pytest.skip("not served by both, or not by the rules of ACLs")
    for version in both_know:
        for name in ("secret", "nowhere"):
            asked = [filled(key, version, name, each.topic("secret").topic_id) for each in twins]
            for at, (one, other) in enumerate(zip(*asked, strict=True)):
                said = ours.ask_as_stranger(one, version)
                assert said == kafkas.ask_as_stranger(other, version), (version, name, at, one)


def said_by_the_tool(twin: Twin, programs: KafkaPrograms, *arguments: str) -> list[str]:
    """Its lines in an order that does not depend on hash codes."""
    at = ("--bootstrap-server", f"127.0.0.1:{twin.port}")
    return sorted(line.strip() for line in programs.run(ACL_COMMAND, *at, *arguments).splitlines())


def test_the_tool_says_the_same(
    kafka_programs: KafkaPrograms, twins: tuple[Guarded, Guarded]
) -> None:
    alice = ("--allow-principal", "User:alice")
    prefixed = ("--resource-pattern-type", "prefixed")
    of_topic = ("--topic", "tooled")
    nobody = ("--deny-principal", "User:*", "--deny-host", "10.0.0.1")
    for arguments in (
        ("--add", *alice, "--producer", *of_topic),
        ("--add", *alice, "--consumer", "--topic", "too", "--group", "g", *prefixed),
        ("--add", *nobody, "--operation", "Read", *of_topic),
        ("--list", *of_topic, "--resource-pattern-type", "match"),
        ("--remove", "--force", *alice, "--operation", "Write", *of_topic),
        ("--remove", "--force", "--topic", "too", *prefixed),
        ("--list", *of_topic),
    ):
        both(twins, said_by_the_tool, kafka_programs, *arguments)
    both(twins, stored)


def stored(twin: Twin) -> tuple[list[str], list[str]]:
    """With the order of its keys; the order of ACLs is that of hash codes."""
    found = json.loads(twin.znode("/kafka-acl/Topic/tooled"))
    return list(found), sorted(map(str, found["acls"]))


def test_answers_about_acls_are_the_same(twins: tuple[Guarded, Guarded]) -> None:
    """Made, refused, described and removed, in every version."""
    wanted = [
        acl("compared", ResourceType.TOPIC, AclOperation.READ, "10.0.0.7"),
        acl("compared", ResourceType.TOPIC, AclOperation.READ, "10.0.0.7"),
        acl("", ResourceType.TOPIC),
        acl("a/b", ResourceType.TOPIC),
        acl("..", ResourceType.TOPIC),
        acl("compared", ResourceType.CLUSTER),
        acl("compared", ResourceType.USER, AclOperation.CREATE_TOKENS, "10.0.0.7"),
    ]
    kinds = [each for each in ResourceType if each is not ResourceType.UNKNOWN]
    patterns = [PatternType.ANY, PatternType.MATCH, PatternType.LITERAL, PatternType.PREFIXED]
    for version in range(4):
        both(twins, create, version, *wanted)
        both(twins, create, version, acl("x", ResourceType.TOPIC, AclOperation.ANY), *wanted)
        for kind, pattern in product(kinds, patterns if version else patterns[2:3]):
            both(twins, describe, version, kind, pattern)
        for pattern in patterns if version else patterns[2:3]:
            both(twins, delete, version, ResourceType.TOPIC, pattern)


def describe(twin: Twin, version: int, kind: ResourceType, pattern: PatternType) -> Any:
    request = DescribeAclsRequest(**by_name(kind, pattern))
    return plain(twin.ask(request, DescribeAclsResponse, version))


def delete(twin: Twin, version: int, kind: ResourceType, pattern: PatternType) -> Any:
    of_none = DeleteAclsFilter(**by_name(kind, pattern, name="nowhere"))
    request = DeleteAclsRequest(filters=[DeleteAclsFilter(**by_name(kind, pattern)), of_none])
    return plain(twin.ask(request, DeleteAclsResponse, version))


def by_name(kind: ResourceType, pattern: PatternType, name: str = "compared") -> dict[str, Any]:
    """Of what comes from one host: others are not this test's."""
    return {
        "resource_type_filter": kind,
        "resource_name_filter": name,
        "pattern_type_filter": pattern,
        "principal_filter": None,
        "host_filter": "10.0.0.7",
        "operation": AclOperation.ANY,
        "permission_type": AclPermissionType.ANY,
    }
