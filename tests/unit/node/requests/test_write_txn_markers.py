"""WriteTxnMarkers, in every version that is served."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from logquake.node.requests.write_txn_markers import WriteTxnMarkers
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transaction_commit import WriteTxnMarkersRequest
from logquake.wire.records import ControlType, read_end_marker, read_header
from tests.parts import bytes_of
from tests.unit.node.requests.lone_broker import TOPIC, LoneBroker
from tests.unit.node.requests.transactions import (
    marker,
    produce,
    transactional_batch,
    write_markers,
)

every_version = pytest.mark.parametrize("version", WriteTxnMarkers.versions)


@pytest.fixture
def properties() -> dict[str, str]:
    """No coordinator is there to be asked."""
    return {"transaction.partition.verification.enable": "false"}


def stable_offset(broker: LoneBroker, index: int = 0) -> int:
    partition = broker.parts.replicas.partition(TOPIC, index)
    assert partition is not None
    return partition.replica.last_stable_offset


@every_version
@pytest.mark.parametrize("commit", [True, False])
def test_a_marker_ends_the_transaction(broker: LoneBroker, version: int, commit: bool) -> None:
    broker.ask(produce(transactional_batch(), transactional_batch()), 11)
    assert stable_offset(broker) == 0
    ended = write_markers(broker, marker(0, 1, commit=commit, coordinator_epoch=3), version=version)
    assert ended == [(7, TOPIC, 0, 0), (7, TOPIC, 1, 0)]
    assert (stable_offset(broker), stable_offset(broker, 1)) == (2, 2)
    partition = broker.parts.replicas.partition(TOPIC, 0)
    assert partition is not None
    stored = memoryview(bytes_of(partition.replica.log.read(1, 1_000, up_to=2)))
    header = read_header(stored)
    assert (header.is_control, header.is_transactional, header.base_sequence) == (True, True, -1)
    found = read_end_marker(stored, 0, header)
    assert found is not None
    assert found.control_type is (ControlType.COMMIT if commit else ControlType.ABORT)
    assert found.coordinator_epoch == 3


@every_version
def test_each_partition_is_answered_for_itself(broker: LoneBroker, version: int) -> None:
    broker.ask(produce(transactional_batch(epoch=1)), 11)
    write_markers(broker, marker(1, coordinator_epoch=5))
    assert write_markers(
        broker,
        marker(0, epoch=0),
        marker(1, coordinator_epoch=4),
        marker(0, 9, pid=8, topic="elsewhere"),
        marker(0, pid=9),
        version=version,
    ) == [
        (7, TOPIC, 0, ErrorCode.INVALID_PRODUCER_EPOCH),
        (7, TOPIC, 1, ErrorCode.TRANSACTION_COORDINATOR_FENCED),
        (8, "elsewhere", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (8, "elsewhere", 9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (9, TOPIC, 0, ErrorCode.NONE),
    ]


@every_version
def test_no_marker_is_answered_at_once(broker: LoneBroker, version: int) -> None:
    assert write_markers(broker, version=version) == []
    assert write_markers(broker, marker(), version=version) == []


def test_a_partition_that_is_named_twice_gets_one_marker(broker: LoneBroker) -> None:
    assert write_markers(broker, marker(0, 0)) == [(7, TOPIC, 0, 0)]
    assert stable_offset(broker) == 1


def test_markers_of_one_producer_are_answered_together(broker: LoneBroker) -> None:
    answers = write_markers(broker, marker(0), marker(1), marker(0, topic="nowhere"))
    assert answers == [
        (7, "nowhere", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (7, TOPIC, 0, 0),
        (7, TOPIC, 1, 0),
    ]


@pytest.mark.parametrize(("pid", "epoch"), [(-1, 0), (7, -1)])
def test_a_marker_of_no_producer_ends_nothing(broker: LoneBroker, pid: int, epoch: int) -> None:
    answers = write_markers(broker, marker(0), marker(1, pid=pid, epoch=epoch))
    assert {error for *_, error in answers} == {ErrorCode.UNKNOWN_SERVER_ERROR}
    assert stable_offset(broker) == 0


def test_too_small_an_isr_is_told(broker: LoneBroker) -> None:
    broker.create_topic("wide", assignment=[1, 2], config={"min.insync.replicas": "2"})
    (answer,) = write_markers(broker, marker(0, topic="wide"))
    assert answer == (7, "wide", 0, ErrorCode.NOT_ENOUGH_REPLICAS)


class Groups:
    def __init__(self) -> None:
        self.told: list[tuple[int, list[int], bool]] = []

    def on_transaction_completed(
        self, producer_id: int, partitions: Sequence[int], *, committed: bool
    ) -> None:
        self.told.append((producer_id, list(partitions), committed))


class TestGroupsOffsets:
    @pytest.fixture
    def groups(self, broker: LoneBroker) -> Groups:
        groups = Groups()
        broker.create_topic("__consumer_offsets", partitions=3)
        handler = WriteTxnMarkers(broker.parts.replicas, groups, broker.scheduler, timeout_ms=1_000)
        broker.api.add(handler)
        return groups

    def test_are_complete_once_the_marker_is_there(
        self, broker: LoneBroker, groups: Groups
    ) -> None:
        broker.ask(
            WriteTxnMarkersRequest(
                markers=[
                    marker(0),
                    marker(2, 0, 7, topic="__consumer_offsets"),
                    marker(1, pid=8, commit=False, topic="__consumer_offsets"),
                ]
            ),
            1,
        )
        assert groups.told == [(7, [2, 0], True), (8, [1], False)]

    def test_are_left_alone_by_a_marker_that_is_refused(
        self, broker: LoneBroker, groups: Groups
    ) -> None:
        write_markers(broker, marker(0, coordinator_epoch=1, topic="__consumer_offsets"))
        write_markers(broker, marker(0, coordinator_epoch=0, topic="__consumer_offsets"))
        assert groups.told == [(7, [0], True)]
