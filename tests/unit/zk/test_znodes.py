"""Znodes as Kafka 3.9.1 wrote them, byte for byte, and what is read besides."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.wire.listeners import ListenerName
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.uuids import decode_uuid
from logquake.zk.operations import Check, Multi, SetData
from logquake.zk.znodes.admin import (
    IsrChange,
    LogDirFailure,
    PreferredReplicaElection,
    ReassignPartitions,
)
from logquake.zk.znodes.brokers import BrokerRegistration, ListenerEndpoint
from logquake.zk.znodes.cluster import ClusterId, Features, ProducerIdBlock
from logquake.zk.znodes.configs import ConfigChange, EntityConfig, desanitize, sanitize
from logquake.zk.znodes.control import ControllerEpoch, ControllerNode, guarded
from logquake.zk.znodes.json_text import MalformedZnode
from logquake.zk.znodes.parents import PERSISTENT_PATHS
from logquake.zk.znodes.topics import PartitionState, TopicAssignment

WRITTEN_BY_KAFKA: list[tuple[Any, bytes]] = [
    (
        ControllerNode(broker_id=0, timestamp_ms=1795253699964),
        b'{"version":2,"brokerid":0,"timestamp":"1795253699964","kraftControllerEpoch":-1}',
    ),
    (ControllerEpoch(1), b"1"),
    (
        TopicAssignment(decode_uuid("OffsDWTMRaS6mxRg_QupIg"), {0: (2, 1, 0)}),
        b'{"partitions":{"0":[2,1,0]},"topic_id":"OffsDWTMRaS6mxRg_QupIg",'
        b'"adding_replicas":{},"removing_replicas":{},"version":3}',
    ),
    (
        PartitionState(leader=2, leader_epoch=0, isr=(2, 1, 0), controller_epoch=1),
        b'{"controller_epoch":1,"leader":2,"version":1,"leader_epoch":0,"isr":[2,1,0]}',
    ),
    (ClusterId("nuPQdOmPTNSLpn_S3CpZjQ"), b'{"version":"1","id":"nuPQdOmPTNSLpn_S3CpZjQ"}'),
    (Features(), b'{"features":{},"version":2,"status":1}'),
    (
        ProducerIdBlock(broker_id=0, first=1000, last=1999),
        b'{"version":1,"broker":0,"block_start":"1000","block_end":"1999"}',
    ),
    (
        EntityConfig({"retention.ms": "86400000"}),
        b'{"version":1,"config":{"retention.ms":"86400000"}}',
    ),
    (
        EntityConfig(
            {
                "segment.bytes": "104857600",
                "cleanup.policy": "compact",
                "compression.type": "producer",
            }
        ),
        b'{"version":1,"config":{"compression.type":"producer","cleanup.policy":"compact",'
        b'"segment.bytes":"104857600"}}',
    ),
    (ConfigChange("topics/orders"), b'{"version":2,"entity_path":"topics/orders"}'),
]


def state(**changed: str) -> bytes:
    """A partition's state with some of its values, as JSON, replaced."""
    whole = {"controller_epoch": "1", "leader": "2", "leader_epoch": "3", "isr": "[2]"} | changed
    return "{{{}}}".format(",".join(f'"{name}":{value}' for name, value in whole.items())).encode()


@pytest.mark.parametrize(("value", "data"), WRITTEN_BY_KAFKA)
def test_data_is_written_and_read_as_kafka_writes_it(value: Any, data: bytes) -> None:
    assert value.encode() == data
    assert type(value).decode(data) == value


def test_a_registration_is_written_and_read_as_kafka_writes_it() -> None:
    registration = BrokerRegistration(
        broker_id=2, endpoints=(ListenerEndpoint("127.0.0.1", 55395),), timestamp_ms=1795253699591
    )
    data = (
        b'{"features":{},"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
        b'"endpoints":["PLAINTEXT://127.0.0.1:55395"],"jmx_port":-1,"port":55395,'
        b'"host":"127.0.0.1","version":5,"timestamp":"1795253699591"}'
    )
    assert registration.encode() == data
    assert BrokerRegistration.decode(2, data) == registration


def test_a_registration_keeps_its_rack_and_every_listener() -> None:
    name = ListenerName("INSIDE")
    inside = ListenerEndpoint("::1", 9093, listener=name, security_protocol="SASL_PLAINTEXT")
    outside = ListenerEndpoint("example.org", 9092)
    registration = BrokerRegistration(7, (inside, outside), timestamp_ms=5, rack="r1")
    decoded = BrokerRegistration.decode(7, registration.encode())
    assert decoded == registration
    assert decoded.endpoint(name) == inside
    assert b'"endpoints":["INSIDE://[::1]:9093","PLAINTEXT://example.org:9092"],"rack":"r1"' in (
        registration.encode()
    )
    assert b'"port":9092,"host":"example.org"' in registration.encode()


def test_a_registration_without_a_protocol_map_names_protocols_by_listener() -> None:
    old = b'{"version":2,"host":"h","port":1,"jmx_port":-1,"endpoints":["SSL://h:1"]}'
    assert BrokerRegistration.decode(1, old).endpoints == (
        ListenerEndpoint("h", 1, listener=ListenerName("SSL"), security_protocol="SSL"),
    )


def test_partitions_are_written_in_the_order_of_scalas_hash_map() -> None:
    assignment = TopicAssignment(None, dict.fromkeys(range(13), (1,)))
    order = [11, 12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    partitions = ",".join(f'"{partition}":[1]' for partition in order)
    assert assignment.encode().startswith(b'{"partitions":{' + partitions.encode() + b"}")
    assert list(TopicAssignment.decode(assignment.encode()).partitions) == list(range(13))


def test_a_reassignment_names_only_the_partitions_that_move() -> None:
    assignment = TopicAssignment(
        None, {0: (1, 2), 1: (2, 3)}, adding={0: (2,), 1: ()}, removing={0: ()}
    )
    decoded = TopicAssignment.decode(assignment.encode())
    assert (decoded.adding, decoded.removing) == ({0: (2,)}, {})


def test_unknown_keys_are_ignored() -> None:
    data = b'{"controller_epoch":1,"leader":2,"leader_epoch":3,"isr":[2],"from":"the future"}'
    assert PartitionState.decode(data) == PartitionState(2, 3, (2,), 1)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b'{"leader":1}',
        b'{"isr":7}',
        b"\xff" * 100_000,
        b"[" * 100_000,
        b"9" * 100_000,
        state(leader="1.5"),
        state(leader='"1"'),
        state(leader="true"),
        state(leader="Infinity"),
        state(leader_epoch=str(1 << 31)),
        state(isr='"12"'),
        state(isr="[1,null]"),
        state(leader_recovery_state="2"),
    ],
    ids=lambda data: repr(data[:80]),
)
def test_data_that_kafka_would_not_write_is_one_error_and_a_short_one(data: bytes) -> None:
    with pytest.raises(MalformedZnode) as malformed:
        PartitionState.decode(data)
    assert len(str(malformed.value)) < 1_500


@pytest.mark.parametrize(
    "partitions",
    ['{"-1":[1]}', '{"one":[1]}', '{"2147483648":[1]}', '{"0":[1e9]}', '{"0":1}', '{"0":[]}', "[]"],
)
def test_an_assignment_that_kafka_would_not_write_is_the_same_error(partitions: str) -> None:
    with pytest.raises(MalformedZnode):
        TopicAssignment.decode(b'{"partitions":%b}' % partitions.encode())


@pytest.mark.parametrize(
    "part",
    [
        '"endpoints":["PLAINTEXT://h:65536"]',
        '"endpoints":["PLAINTEXT://h:-1"]',
        '"endpoints":["PLAINTEXT://\\ud800:1"]',
        '"endpoints":[7]',
        '"endpoints":["P://h:1"],"rack":3',
        '"endpoints":["P://h:1"],"listener_security_protocol_map":{"P":1}',
        '"endpoints":["P://%s:1"]' % ("h" * 40_000),
    ],
    ids=lambda part: part[:60],
)
def test_a_registration_that_no_request_could_pass_on_is_the_same_error(part: str) -> None:
    with pytest.raises(MalformedZnode):
        BrokerRegistration.decode(1, f"{{{part}}}".encode())


def test_a_controller_epoch_that_is_no_number_is_the_same_error() -> None:
    with pytest.raises(MalformedZnode):
        ControllerEpoch.decode(b"one")


def test_an_empty_entity_has_no_overrides() -> None:
    assert EntityConfig.decode(b"") == EntityConfig({})


def test_config_changes_are_numbered_with_ten_digits() -> None:
    assert ConfigChange.path() == "/config/changes/config_change_"
    assert ConfigChange.path(7) == "/config/changes/config_change_0000000007"


@pytest.mark.parametrize(
    ("name", "sanitized"), [("alice", "alice"), ("a b*~/ü+", "a%20b%2A%7E%2F%C3%BC%2B")]
)
def test_names_of_users_become_path_parts_and_back(name: str, sanitized: str) -> None:
    assert sanitize(name) == sanitized
    assert desanitize(sanitized) == name


def test_producer_id_blocks_follow_one_another() -> None:
    first = ProducerIdBlock.following(None, broker_id=3)
    assert first == ProducerIdBlock(3, 0, 999)
    assert ProducerIdBlock.following(first, broker_id=1) == ProducerIdBlock(1, 1000, 1999)


@pytest.mark.parametrize(
    "value",
    [
        PreferredReplicaElection((TopicPartition("orders", 1), TopicPartition("logs", 0))),
        ReassignPartitions({TopicPartition("orders", 1): (3, 2)}),
        IsrChange((TopicPartition("orders", 1),)),
        LogDirFailure(4),
    ],
)
def test_requests_to_the_controller_come_back_as_written(value: Any) -> None:
    assert type(value).decode(value.encode()) == value


def test_guarded_writes_come_after_the_check_of_the_controller_epoch() -> None:
    write = SetData("/a", b"x", version=3)
    assert guarded(7, write) == Multi((Check("/controller_epoch", 7), write))


def test_every_persistent_path_comes_after_its_parent() -> None:
    made: set[str] = {""}
    for path in PERSISTENT_PATHS:
        assert path.rpartition("/")[0] in made
        made.add(path)
