"""Znodes that somebody else wrote and that make no sense end no broker."""

from __future__ import annotations

import pytest

from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import MetadataRequest
from logquake.zk.operations import Create
from logquake.zk.znodes.parents import create_parents
from tests.doubles.journal import MemoryJournal
from tests.unit.node.requests.lone_broker import LoneBroker

GARBAGE = b"[" * 100_000


def write(broker: LoneBroker, path: str, data: bytes) -> None:
    session_id = broker.zookeeper.model.open_session()
    for create in (*create_parents(), Create("/cluster"), Create(path, data)):
        _, fired = broker.zookeeper.model.apply(session_id, create)
        broker.zookeeper.deliver(fired)


def test_a_malformed_topic_configuration_is_passed_over_by_a_start(
    stopped_broker: LoneBroker, journal: MemoryJournal
) -> None:
    broker = stopped_broker
    write(broker, "/config/topics/odd", GARBAGE)
    broker.start()
    broker.create_topic("orders")
    ignored = journal.of("topic-config-ignored")
    assert [event.subject for event in ignored] == ["odd"]
    assert len(ignored[0].why) < 1_500


def test_a_malformed_configuration_keeps_no_topic_from_being_led(broker: LoneBroker) -> None:
    write(broker, "/config/topics/odd", GARBAGE)
    write(broker, "/brokers/topics/odd", b'{"partitions":{"0":[1]}}')
    broker.settle()
    metadata = broker.ask(MetadataRequest(topics=None), 12)
    (odd,) = [topic for topic in metadata.topics if topic.name == "odd"]
    assert (odd.error_code, odd.partitions[0].leader_id) == (ErrorCode.NONE, 1)


def test_a_malformed_cluster_id_is_refused_in_one_line(stopped_broker: LoneBroker) -> None:
    write(stopped_broker, "/cluster/id", b"garbage")
    with pytest.raises(pytest.fail.Exception, match="the cluster's id in ZooKeeper makes no sense"):
        stopped_broker.start()
