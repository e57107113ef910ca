"""Giving up records on request: what the leader does, and what it waits for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from logquake.node.replication.fetch_sessions import FetchContext
from logquake.node.replication.settings import TopicConfig
from logquake.node.replication.values import (
    DeletedRecords,
    FetchParams,
    FetchPartition,
    Isolation,
    ProduceEntry,
)
from logquake.storage.log_config import LogConfig
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.update_metadata import UpdateMetadataRequest
from tests.doubles.scheduler import ManualScheduler
from tests.unit.node.replication.one_broker import OneBroker

Batch = Callable[..., memoryview]
TOPIC_ID = b"orders".ljust(16, b"-")
FOLLOWER = 2


@pytest.fixture
def led(broker: OneBroker, batch: Batch) -> Any:
    """Broker 1 leads orders-0; broker 2 has all of its three records and starts at 0."""
    broker.lead()
    for value in (b"a", b"b", b"c"):
        broker.replicas.appends.add([ProduceEntry("orders", 0, batch(value))], 1, 0, lambda _: None)
        broker.replicas.end_of_pass()
    follow(broker, 0)
    assert broker.partition().replica.high_watermark == 3
    return broker


def follow(broker: OneBroker, log_start: int) -> None:
    """Broker 2 fetches from the end of the log."""
    key = (TOPIC_ID, 0)
    asked = FetchPartition(key, "orders", TOPIC_ID, 0, 3, 1_000, log_start_offset=log_start)
    params = FetchParams(FOLLOWER, -1, 0, 0, 1_000, Isolation.LOG_END)
    broker.replicas.fetches.fetch(params, FetchContext([asked]), lambda _: None)
    broker.replicas.end_of_pass()


def delete(broker: OneBroker, offset: int, *, index: int = 0) -> list[DeletedRecords]:
    """What has been answered, and will be."""
    answers: list[DeletedRecords] = []
    broker.replicas.deletions.delete([("orders", index, offset)], 1_000, answers.extend)
    broker.replicas.end_of_pass()
    return answers


def test_the_leader_starts_there_at_once_and_the_answer_waits_for_the_follower(
    led: OneBroker,
) -> None:
    answers = delete(led, 2)
    assert led.partition().replica.start == 2
    follow(led, 1)
    assert answers == []
    follow(led, 2)
    assert answers == [DeletedRecords(ErrorCode.NONE, 2)]


def test_a_follower_that_is_further_does_not_raise_the_low_watermark(led: OneBroker) -> None:
    answers = delete(led, 1)
    follow(led, 3)
    assert answers == [DeletedRecords(ErrorCode.NONE, 1)]


def test_what_was_deleted_before_is_answered_at_once(led: OneBroker) -> None:
    delete(led, 2)
    follow(led, 2)
    assert delete(led, 1) == [DeletedRecords(ErrorCode.NONE, 2)]


def test_minus_one_is_the_high_watermark(led: OneBroker) -> None:
    answers = delete(led, -1)
    follow(led, 3)
    assert answers == [DeletedRecords(ErrorCode.NONE, 3)]


@pytest.mark.parametrize("offset", [4, -2])
def test_an_offset_that_is_not_committed_is_out_of_range(led: OneBroker, offset: int) -> None:
    assert delete(led, offset) == [DeletedRecords(ErrorCode.OFFSET_OUT_OF_RANGE)]
    assert led.partition().replica.start == 0


def test_a_follower_that_does_not_follow_lets_it_time_out(
    led: OneBroker, scheduler: ManualScheduler
) -> None:
    answers = delete(led, 2)
    scheduler.advance(999)
    assert answers == []
    scheduler.advance(1)
    assert answers == [DeletedRecords(ErrorCode.REQUEST_TIMED_OUT, 0)]
    follow(led, 2)
    assert len(answers) == 1


def test_a_broker_that_is_gone_is_not_waited_for(led: OneBroker) -> None:
    led.metadata.update(UpdateMetadataRequest(live_brokers=[]))
    assert delete(led, 2) == [DeletedRecords(ErrorCode.NONE, 2)]


def test_the_end_of_the_leadership_ends_the_waiting(led: OneBroker) -> None:
    answers = delete(led, 2)
    led.assign(leader=FOLLOWER, epoch=1)
    led.replicas.end_of_pass()
    assert answers == [DeletedRecords(ErrorCode.NOT_LEADER_OR_FOLLOWER)]


def test_a_follower_refuses(broker: OneBroker) -> None:
    broker.assign(leader=FOLLOWER)
    assert delete(broker, 0) == [DeletedRecords(ErrorCode.NOT_LEADER_OR_FOLLOWER)]


def test_an_unknown_partition(broker: OneBroker) -> None:
    assert delete(broker, 0, index=7) == [DeletedRecords(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]


def test_a_topic_that_is_only_compacted_refuses(led: OneBroker) -> None:
    compacted = replace(LogConfig(), deleted=False, compacted=True)
    led.replicas.update_topic_config("orders", TopicConfig(log=compacted))
    assert delete(led, 1) == [DeletedRecords(ErrorCode.POLICY_VIOLATION)]


def test_partitions_of_one_request_are_waited_for_together(led: OneBroker) -> None:
    answers: list[DeletedRecords] = []
    led.replicas.deletions.delete(
        [("orders", 0, 2), ("orders", 9, 1), ("orders", 0, 0)], 1_000, answers.extend
    )
    led.replicas.end_of_pass()
    assert answers == []
    follow(led, 2)
    assert [answer.error for answer in answers] == [
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NONE,
    ]
