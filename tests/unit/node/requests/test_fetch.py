"""Fetch, in every version that is served: by name until 12, by id from 13 on."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.node.requests.fetch import Fetch
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from logquake.wire.records import iterate_batches
from tests.unit.node.requests.lone_broker import LoneBroker

every_version = pytest.mark.parametrize("version", Fetch.versions)
session_versions = pytest.mark.parametrize("version", range(7, 18))


@pytest.fixture
def filled(broker: LoneBroker, batch: Any) -> Any:
    """Three batches, of two records each, in orders-0."""
    for _ in range(3):
        data = PartitionProduceData(index=0, records=batch(b"x" * 100, b"y" * 100))
        topic = TopicProduceData(name="orders", partition_data=[data])
        broker.ask(ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic]), 9)
    return broker


def topic_of(broker: LoneBroker, name: str, *partitions: FetchPartition) -> FetchTopic:
    known = name in ("orders", "elsewhere")
    topic_id = broker.topic_id(name) if known else b"\x09" * 16
    return FetchTopic(topic=name, topic_id=topic_id, partitions=list(partitions))


def partition(index: int = 0, offset: int = 0, **rest: Any) -> FetchPartition:
    return FetchPartition(
        partition=index, fetch_offset=offset, partition_max_bytes=1_000_000, **rest
    )


def fetch(*topics: FetchTopic, **rest: Any) -> FetchRequest:
    options: dict[str, Any] = {"max_wait_ms": 100, "min_bytes": 1, **rest}
    return FetchRequest(topics=list(topics), **options)


def only(response: Any) -> Any:
    (topic,) = response.responses
    (data,) = topic.partitions
    return data


def offsets(data: Any) -> list[int]:
    return [header.base_offset for _, header in iterate_batches(data.records)]


@every_version
def test_reads_from_the_batch_that_holds_the_offset(filled: LoneBroker, version: int) -> None:
    data = only(filled.ask(fetch(topic_of(filled, "orders", partition(offset=3))), version))
    assert (data.error_code, data.high_watermark) == (0, 6)
    assert data.last_stable_offset == (6 if version >= 4 else -1)
    # Message sets can begin in the midst of what was a batch; then each record is an entry.
    assert offsets(data) == ([2, 4] if version >= 4 else [3, 4, 5])
    assert data.log_start_offset == (0 if version >= 5 else -1)
    assert data.aborted_transactions == (None if version >= 4 else [])


@every_version
def test_committed_reads_get_a_list_of_aborted_transactions(
    filled: LoneBroker, version: int
) -> None:
    request = fetch(topic_of(filled, "orders", partition()), isolation_level=1)
    assert only(filled.ask(request, version)).aborted_transactions == []


@every_version
def test_at_the_end_the_answer_waits_and_is_empty(filled: LoneBroker, version: int) -> None:
    data = only(filled.ask(fetch(topic_of(filled, "orders", partition(offset=6))), version))
    assert (data.error_code, len(data.records)) == (0, 0)


@every_version
@pytest.mark.parametrize("max_wait_ms", [-1, 0])
def test_no_patience_is_no_wait(filled: LoneBroker, version: int, max_wait_ms: int) -> None:
    asked = topic_of(filled, "orders", partition(offset=6))
    outcomes: list[Any] = []
    filled.serve(fetch(asked, max_wait_ms=max_wait_ms), version, outcomes.append)
    assert len(outcomes) == 1


@every_version
@pytest.mark.parametrize("offset", [-1, 7, 2**63 - 1, -(2**63)])
def test_offsets_outside_the_log_are_out_of_range(
    filled: LoneBroker, version: int, offset: int
) -> None:
    data = only(filled.ask(fetch(topic_of(filled, "orders", partition(offset=offset))), version))
    assert data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert (data.high_watermark, len(data.records)) == (-1, 0)


@every_version
def test_a_batch_larger_than_the_limit_comes_whole_since_version_3(
    filled: LoneBroker, version: int
) -> None:
    small = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)
    data = only(filled.ask(fetch(topic_of(filled, "orders", small), max_bytes=1), version))
    expected = [0] if version >= 4 else [0, 1]
    assert offsets(data) == (expected if version >= 3 else [])


@every_version
def test_unknown_topics(filled: LoneBroker, version: int) -> None:
    data = only(filled.ask(fetch(topic_of(filled, "nowhere", partition())), version))
    by_id = version >= 13
    expected = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert data.error_code == expected


@every_version
@pytest.mark.parametrize("index", [-1, 2, 2**31 - 1])
def test_unknown_partitions(filled: LoneBroker, version: int, index: int) -> None:
    data = only(filled.ask(fetch(topic_of(filled, "orders", partition(index))), version))
    assert data.partition_index == index
    assert data.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@every_version
def test_another_broker_leads(filled: LoneBroker, version: int) -> None:
    response = filled.ask(fetch(topic_of(filled, "elsewhere", partition())), version)
    data = only(response)
    assert data.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    if version >= 16:  # KIP-951
        assert (data.current_leader.leader_id, data.current_leader.leader_epoch) == (2, 5)
        assert [node.node_id for node in response.node_endpoints] == [2]
    else:
        assert response.node_endpoints == []


@pytest.mark.parametrize("version", range(9, 18))
@pytest.mark.parametrize(
    ("epoch", "error"), [(0, ErrorCode.NONE), (1, ErrorCode.UNKNOWN_LEADER_EPOCH)]
)
def test_leader_epochs_are_compared(
    filled: LoneBroker, version: int, epoch: int, error: ErrorCode
) -> None:
    asked = partition(current_leader_epoch=epoch)
    assert only(filled.ask(fetch(topic_of(filled, "orders", asked)), version)).error_code == error


@pytest.mark.parametrize("version", range(12, 18))
def test_a_log_that_parted_is_told_where(filled: LoneBroker, version: int) -> None:
    asked = partition(offset=9, last_fetched_epoch=0)
    data = only(filled.ask(fetch(topic_of(filled, "orders", asked)), version))
    assert (data.diverging_epoch.epoch, data.diverging_epoch.end_offset) == (0, 6)


@every_version
def test_a_broker_that_is_no_replica_is_refused(filled: LoneBroker, version: int) -> None:
    who: dict[str, Any]
    if version >= 15:
        who = {"replica_state": ReplicaState(replica_id=9, replica_epoch=1)}
    else:
        who = {"replica_id": 9}
    data = only(filled.ask(fetch(topic_of(filled, "orders", partition()), **who), version))
    assert data.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


@every_version
def test_nothing_asked_is_answered_in_time(filled: LoneBroker, version: int) -> None:
    assert filled.ask(fetch(), version).responses == []


@session_versions
def test_a_session_answers_only_what_is_new(filled: LoneBroker, version: int) -> None:
    opening = fetch(topic_of(filled, "orders", partition(), partition(1)), session_epoch=0)
    opened = filled.ask(opening, version)
    assert opened.session_id != 0
    assert len(opened.responses[0].partitions) == 2
    session = {"session_id": opened.session_id}
    again = filled.ask(fetch(session_epoch=1, **session), version)
    assert [p.partition_index for t in again.responses for p in t.partitions] == [0]
    forgotten = ForgottenTopic(
        topic="orders", topic_id=filled.topic_id("orders"), partitions=[0, 0, 9]
    )
    last = filled.ask(fetch(session_epoch=2, forgotten_topics_data=[forgotten], **session), version)
    assert last.responses == []


@session_versions
@pytest.mark.parametrize(
    ("session_id", "epoch", "error"),
    [
        (12345, 1, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (0, 1, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (-1, 2**31 - 1, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (0, -1, ErrorCode.NONE),
        (77, 0, ErrorCode.NONE),
    ],
)
def test_sessions_that_are_not_there(
    filled: LoneBroker, version: int, session_id: int, epoch: int, error: ErrorCode
) -> None:
    request = fetch(session_id=session_id, session_epoch=epoch)
    assert filled.ask(request, version).error_code == error


def test_a_session_by_name_cannot_go_on_by_id(filled: LoneBroker) -> None:
    opened = filled.ask(fetch(topic_of(filled, "orders", partition()), session_epoch=0), 12)
    again = fetch(session_id=opened.session_id, session_epoch=1)
    assert filled.ask(again, 13).error_code == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
