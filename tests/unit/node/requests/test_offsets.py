"""OffsetCommit, OffsetFetch, OffsetDelete and TxnOffsetCommit, in every version that is served."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.node.requests.offset_commit import OffsetCommit
from logquake.node.requests.offset_fetch import OffsetFetch
from logquake.node.requests.txn_offset_commit import TxnOffsetCommit
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import FindCoordinatorRequest
from logquake.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from logquake.wire.messages.topics import DeleteTopicsRequest, DeleteTopicState
from logquake.wire.messages.transaction_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from logquake.wire.messages.transactions import (
    AddOffsetsToTxnRequest,
    EndTxnRequest,
    InitProducerIdRequest,
)
from logquake.zk.operations import SetData
from tests.unit.node.requests.lone_broker import TOPIC, LoneBroker

# Those that the coordinator serves; version 0 goes to ZooKeeper.
commit_versions = pytest.mark.parametrize("version", OffsetCommit.versions[1:])
fetch_versions = pytest.mark.parametrize("version", OffsetFetch.versions[1:])
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.fixture
def properties() -> dict[str, str]:
    """Topics that one broker can hold."""
    return {
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "2",
        "offset.metadata.max.bytes": "5",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.min.isr": "1",
    }


@pytest.fixture
def offsets(broker: LoneBroker) -> LoneBroker:
    """It coordinates groups by now."""
    broker.ask(FindCoordinatorRequest(key="g"), 0)
    broker.settle()
    assert broker.ask(FindCoordinatorRequest(key="g"), 0).error_code == 0
    return broker


def commit(
    broker: LoneBroker,
    version: int = 8,
    *,
    group: str = "g",
    topic: str = TOPIC,
    indexes: tuple[int, ...] = (0,),
    retention_ms: int = -1,
    commit_ms: int = -1,
    generation: int = -1,
    **values: Any,
) -> dict[tuple[str, int], int]:
    """The errors by partition."""
    values = {"committed_offset": 5, "committed_metadata": "m", **values}
    values |= {"commit_timestamp": commit_ms} if version == 1 else {}
    retention: dict[str, Any] = {"retention_time_ms": retention_ms} if 2 <= version <= 4 else {}
    partitions = [OffsetCommitRequestPartition(partition_index=i, **values) for i in indexes]
    request = OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=generation,
        topics=[OffsetCommitRequestTopic(name=topic, partitions=partitions)],
        **retention,
    )
    reply = broker.ask(request, version)
    return {(t.name, p.partition_index): p.error_code for t in reply.topics for p in t.partitions}


def fetch(
    broker: LoneBroker,
    version: int = 8,
    *,
    group: str = "g",
    indexes: tuple[int, ...] | None = (0,),
    topic: str = TOPIC,
    require_stable: bool = False,
) -> Any:
    """Of one group: the error, and (offset, leader epoch, metadata, error) by partition."""
    stable: dict[str, Any] = {"require_stable": require_stable} if version >= 7 else {}
    if version >= 8:
        named = [OffsetFetchRequestTopics(name=topic, partition_indexes=list(indexes or ()))]
        asked = OffsetFetchRequestGroup(group_id=group, topics=None if indexes is None else named)
        reply = broker.ask(OffsetFetchRequest(groups=[asked], **stable), version).groups[0]
        assert reply.group_id == group
    else:
        old = [OffsetFetchRequestTopic(name=topic, partition_indexes=list(indexes or ()))]
        request = OffsetFetchRequest(
            group_id=group, topics=None if indexes is None else old, **stable
        )
        reply = broker.ask(request, version)
    return reply.error_code, {
        (t.name, p.partition_index): (
            p.committed_offset,
            p.committed_leader_epoch,
            p.metadata,
            p.error_code,
        )
        for t in reply.topics
        for p in t.partitions
    }


@commit_versions
def test_what_is_committed_is_fetched(offsets: LoneBroker, version: int) -> None:
    values: dict[str, Any] = {"committed_leader_epoch": 3} if version >= 6 else {}
    assert commit(offsets, version, indexes=(0, 1), **values) == {(TOPIC, 0): 0, (TOPIC, 1): 0}
    epoch = 3 if version >= 6 else -1
    assert fetch(offsets) == (0, {(TOPIC, 0): (5, epoch, "m", 0)})


@fetch_versions
def test_offsets_are_fetched_in_every_version(offsets: LoneBroker, version: int) -> None:
    commit(offsets, committed_leader_epoch=3)
    epoch = 3 if version >= 5 else -1
    assert fetch(offsets, version, indexes=(0, 1, 77)) == (
        0,
        {
            (TOPIC, 0): (5, epoch, "m", 0),
            (TOPIC, 1): (-1, -1, "", 0),
            (TOPIC, 77): (-1, -1, "", 0),
        },
    )
    assert fetch(offsets, version, group="h") == (0, {(TOPIC, 0): (-1, -1, "", 0)})


@fetch_versions
def test_all_offsets_of_a_group(offsets: LoneBroker, version: int) -> None:
    if version < 2:
        return
    assert fetch(offsets, version, indexes=None) == (0, {})
    commit(offsets, indexes=(1, 0))
    _, found = fetch(offsets, version, indexes=None)
    assert list(found) == [(TOPIC, 0), (TOPIC, 1)]


def test_several_groups_at_once(offsets: LoneBroker) -> None:
    commit(offsets)
    groups = [OffsetFetchRequestGroup(group_id=group, topics=None) for group in ("g", "h", "g")]
    reply = offsets.ask(OffsetFetchRequest(groups=groups), 8)
    assert [(g.group_id, g.error_code, len(g.topics)) for g in reply.groups] == [
        ("g", 0, 1),
        ("h", 0, 0),
        ("g", 0, 1),
    ]


@fetch_versions
def test_nobody_coordinates_before_there_is_a_topic(broker: LoneBroker, version: int) -> None:
    """Before v2 the answer has no place for the error, and names no partition (as from Kafka)."""
    not_here = ErrorCode.NOT_COORDINATOR if version >= 2 else ErrorCode.NONE
    assert fetch(broker, version) == (not_here, {})


@commit_versions
def test_commits_nobody_coordinates(broker: LoneBroker, version: int) -> None:
    assert commit(broker, version) == {(TOPIC, 0): ErrorCode.NOT_COORDINATOR}


@commit_versions
def test_partitions_that_there_are_not(offsets: LoneBroker, version: int) -> None:
    assert commit(offsets, version, indexes=(7, 0)) == {(TOPIC, 7): UNKNOWN, (TOPIC, 0): 0}
    assert commit(offsets, version, topic="nowhere") == {("nowhere", 0): UNKNOWN}


@commit_versions
def test_metadata_is_optional_and_bounded(offsets: LoneBroker, version: int) -> None:
    assert commit(offsets, version, committed_metadata=None) == {(TOPIC, 0): 0}
    assert fetch(offsets)[1][TOPIC, 0][2] == ""
    too_large = ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert commit(offsets, version, committed_metadata="sixsix") == {(TOPIC, 0): too_large}


def test_a_generation_of_a_group_that_is_not_there(offsets: LoneBroker) -> None:
    assert commit(offsets, generation=1) == {(TOPIC, 0): ErrorCode.ILLEGAL_GENERATION}


@pytest.mark.parametrize("version", range(2, 5))
def test_a_retention_of_its_own(offsets: LoneBroker, version: int) -> None:
    assert commit(offsets, version, retention_ms=1_000) == {(TOPIC, 0): 0}
    assert commit(offsets, version, indexes=(1,), retention_ms=2**63 - 1) == {(TOPIC, 1): 0}
    offsets.scheduler.advance(600_000)
    assert fetch(offsets, indexes=None) == (0, {})


def test_a_commit_of_long_ago(offsets: LoneBroker) -> None:
    commit(offsets, 1, commit_ms=1_000)
    commit(offsets, 1, indexes=(1,))
    offsets.scheduler.advance(600_000)
    assert list(fetch(offsets, indexes=None)[1]) == [(TOPIC, 1)]


def delete(broker: LoneBroker, *indexes: int, group: str = "g") -> Any:
    partitions = [OffsetDeleteRequestPartition(partition_index=index) for index in indexes]
    topic = OffsetDeleteRequestTopic(name=TOPIC, partitions=partitions)
    reply = broker.ask(OffsetDeleteRequest(group_id=group, topics=[topic]), 0)
    found = {(t.name, p.partition_index): p.error_code for t in reply.topics for p in t.partitions}
    return reply.error_code, found


def test_deleting_offsets(offsets: LoneBroker) -> None:
    assert delete(offsets, 0) == (ErrorCode.GROUP_ID_NOT_FOUND, {})
    commit(offsets, indexes=(0, 1))
    assert delete(offsets, 0, 7) == (0, {(TOPIC, 0): 0, (TOPIC, 7): UNKNOWN})
    assert list(fetch(offsets, indexes=None)[1]) == [(TOPIC, 1)]
    assert delete(offsets, 1) == (0, {(TOPIC, 1): 0})
    assert delete(offsets, 1) == (ErrorCode.GROUP_ID_NOT_FOUND, {})
    assert delete(offsets, 0, group="") == (ErrorCode.INVALID_GROUP_ID, {})


def test_offsets_of_a_deleted_topic_go(offsets: LoneBroker) -> None:
    offsets.create_topic("short", partitions=1)
    commit(offsets, topic="short")
    commit(offsets)
    offsets.ask(DeleteTopicsRequest(topics=[DeleteTopicState(name="short")], timeout_ms=10_000), 6)
    assert list(fetch(offsets, indexes=None)[1]) == [(TOPIC, 0)]


class Transaction:
    """Of one producer, with the broker as its coordinator."""

    def __init__(self, broker: LoneBroker) -> None:
        self._broker = broker
        broker.ask(FindCoordinatorRequest(key_type=1, key="t"), 2)
        broker.settle()
        init = InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=60_000)
        made = broker.ask(init, 4)
        assert made.error_code == 0
        self._producer = {"producer_id": made.producer_id, "producer_epoch": made.producer_epoch}

    def begin(self) -> None:
        request = AddOffsetsToTxnRequest(transactional_id="t", group_id="g", **self._producer)
        assert self._broker.ask(request, 3).error_code == 0

    def commit_offset(self, version: int, index: int = 0) -> int:
        asked = TxnOffsetCommitRequestPartition(
            partition_index=index, committed_offset=5, committed_metadata=None
        )
        request = TxnOffsetCommitRequest(
            transactional_id="t",
            group_id="g",
            topics=[TxnOffsetCommitRequestTopic(name=TOPIC, partitions=[asked])],
            **self._producer,
        )
        reply = self._broker.ask(request, version)
        return int(reply.topics[0].partitions[0].error_code)

    def end(self, *, committed: bool) -> None:
        request = EndTxnRequest(transactional_id="t", committed=committed, **self._producer)
        assert self._broker.ask(request, 3).error_code == 0
        self._broker.settle()


@pytest.fixture
def transaction(offsets: LoneBroker) -> Transaction:
    return Transaction(offsets)


@pytest.mark.parametrize("version", TxnOffsetCommit.versions)
@pytest.mark.parametrize("committed", [True, False])
def test_offsets_of_a_transaction_hold_if_it_commits(
    offsets: LoneBroker, transaction: Transaction, version: int, *, committed: bool
) -> None:
    transaction.begin()
    assert transaction.commit_offset(version) == 0
    unstable = (-1, -1, "", ErrorCode.UNSTABLE_OFFSET_COMMIT)
    assert fetch(offsets, require_stable=True) == (0, {(TOPIC, 0): unstable})
    assert fetch(offsets) == (0, {(TOPIC, 0): (-1, -1, "", 0)})
    transaction.end(committed=committed)
    held = (5, -1, "", 0) if committed else (-1, -1, "", 0)
    assert fetch(offsets, require_stable=True) == (0, {(TOPIC, 0): held})


@pytest.mark.parametrize("version", TxnOffsetCommit.versions)
def test_a_group_that_was_not_added_to_the_transaction(
    transaction: Transaction, version: int
) -> None:
    abortable = version >= 4
    refused = ErrorCode.TRANSACTION_ABORTABLE if abortable else ErrorCode.INVALID_TXN_STATE
    assert transaction.commit_offset(version) == refused


@pytest.mark.parametrize("version", TxnOffsetCommit.versions)
def test_transactional_offsets_of_partitions_that_there_are_not(
    transaction: Transaction, version: int
) -> None:
    assert transaction.commit_offset(version, 7) == UNKNOWN


def test_the_oldest_consumers_keep_offsets_in_zookeeper(broker: LoneBroker) -> None:
    """Without any coordinator."""
    assert fetch(broker, 0) == (0, {(TOPIC, 0): (-1, -1, "", UNKNOWN)})
    for offset in (5, 6):
        told = commit(broker, 0, indexes=(0, 1, 7), committed_offset=offset)
        assert told == {(TOPIC, 7): UNKNOWN, (TOPIC, 0): 0, (TOPIC, 1): 0}
    assert fetch(broker, 0, indexes=(0, 7)) == (
        0,
        {(TOPIC, 0): (6, -1, "", 0), (TOPIC, 7): (-1, -1, "", UNKNOWN)},
    )
    node = broker.zookeeper.model.data(f"/consumers/g/offsets/{TOPIC}/1")
    assert node is not None
    assert node.data == b"6"
    too_large = ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert commit(broker, 0, committed_metadata="sixsix") == {(TOPIC, 0): too_large}


@pytest.mark.parametrize("group", ["", "..", "a//b", "a/../../brokers", "\0"])
def test_groups_that_are_no_path_of_zookeepers(broker: LoneBroker, group: str) -> None:
    refused = ErrorCode.UNKNOWN_SERVER_ERROR
    assert commit(broker, 0, group=group) == {(TOPIC, 0): refused}
    assert fetch(broker, 0, group=group) == (0, {(TOPIC, 0): (-1, -1, "", refused)})


def test_an_offset_in_zookeeper_that_is_none(broker: LoneBroker) -> None:
    commit(broker, 0)
    node = broker.zookeeper.model.data(f"/consumers/g/offsets/{TOPIC}/0")
    assert node is not None
    session = next(iter(broker.zookeeper.model.sessions))
    broker.zookeeper.model.apply(session, SetData(f"/consumers/g/offsets/{TOPIC}/0", b"five"))
    refused = ErrorCode.UNKNOWN_SERVER_ERROR
    assert fetch(broker, 0) == (0, {(TOPIC, 0): (-1, -1, "", refused)})
