"""Incremental fetch sessions on the leader's side (KIP-227)."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from logquake.node.replication.fetch_sessions import (
    MIN_EVICTION_MS,
    FetchContext,
    FetchSessions,
)
from logquake.node.replication.values import (
    EpochEndOffset,
    FetchAnswer,
    FetchParams,
    FetchPartition,
    FetchResult,
    Isolation,
    PartitionKey,
    PartitionRead,
)
from logquake.storage.log.slice import EMPTY_SLICE, LogSlice
from logquake.wire.errors import ErrorCode
from logquake.wire.fetch_sessions import FINAL_EPOCH
from logquake.wire.sentinels import CONSUMER_REPLICA_ID
from tests.doubles.scheduler import ManualScheduler

RECORDS = LogSlice(EMPTY_SLICE.file, 0, 100, 0)


@pytest.fixture
def sessions(scheduler: ManualScheduler) -> FetchSessions:
    return FetchSessions(2, scheduler, Random(7), {b"i" * 16: "orders"}.get)


def asked(index: int, offset: int = 0, topic: bytes | str = "t") -> FetchPartition:
    return FetchPartition((topic, index), str(topic), bytes(16), index, offset, 1_000)


def open_session(
    sessions: FetchSessions,
    *partitions: FetchPartition,
    session: tuple[int, int] = (0, 0),
    forgotten: Sequence[PartitionKey] = (),
    from_follower: bool = False,
    by_topic_id: bool = False,
) -> FetchContext:
    replica_id = 2 if from_follower else CONSUMER_REPLICA_ID
    return sessions.open(
        *session,
        FetchParams(replica_id, -1, 0, 1, 1_000, Isolation.LOG_END),
        by_topic_id=by_topic_id,
        partitions=partitions,
        forgotten=forgotten,
    )


def start(sessions: FetchSessions, *indexes: int, from_follower: bool = False) -> int:
    context = open_session(sessions, *map(asked, indexes), from_follower=from_follower)
    return told(context, *(FetchResult(high_watermark=5) for _ in indexes)).session_id


def told(context: FetchContext, *results: FetchResult) -> FetchAnswer:
    """Of a request whose partitions read like this, in their order."""
    reads = zip(context.partitions, results, strict=True)
    return context.answer([PartitionRead(asked, result) for asked, result in reads])


def mentioned(answer: FetchAnswer) -> list[int]:
    return [partition.partition for partition, _ in answer.partitions]


def test_a_full_request_is_answered_in_full_and_opens_a_session(sessions: FetchSessions) -> None:
    answer = told(open_session(sessions, asked(0), asked(1)), FetchResult(), FetchResult())
    assert mentioned(answer) == [0, 1]
    assert answer.session_id > 0


def test_only_news_is_mentioned(sessions: FetchSessions) -> None:
    session = start(sessions, 0, 1, 2, 3)
    context = open_session(sessions, session=(session, 1))
    answer = told(
        context,
        FetchResult(high_watermark=5),
        FetchResult(high_watermark=6),
        FetchResult(high_watermark=5, records=RECORDS),
        FetchResult(high_watermark=5, log_start_offset=2),
    )
    assert mentioned(answer) == [1, 2, 3]


def test_after_an_error_the_partition_comes_up_again(sessions: FetchSessions) -> None:
    session = start(sessions, 0)
    failed = FetchResult(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert mentioned(told(open_session(sessions, session=(session, 1)), failed)) == [0]
    healed = FetchResult(high_watermark=5)
    assert mentioned(told(open_session(sessions, session=(session, 2)), healed)) == [0]
    assert mentioned(told(open_session(sessions, session=(session, 3)), healed)) == []


def test_after_a_diverging_epoch_everything_is_said_again(sessions: FetchSessions) -> None:
    """A follower truncates and takes in nothing else of such an answer."""
    session = start(sessions, 0)
    news = FetchResult(high_watermark=5, log_start_offset=2)
    diverging = replace(news, diverging_epoch=EpochEndOffset(ErrorCode.NONE, 0, 5))
    assert mentioned(told(open_session(sessions, session=(session, 1)), diverging)) == [0]
    assert mentioned(told(open_session(sessions, session=(session, 2)), news)) == [0]
    assert mentioned(told(open_session(sessions, session=(session, 3)), news)) == []


def test_requests_name_what_changed_and_what_to_forget(sessions: FetchSessions) -> None:
    session = start(sessions, 0, 1)
    context = open_session(sessions, asked(1, 9), asked(2), session=(session, 1))
    assert [(p.partition, p.fetch_offset) for p in context.partitions] == [(0, 0), (1, 9), (2, 0)]
    context = open_session(sessions, session=(session, 2), forgotten=[("t", 0), ("t", 7)])
    assert [p.partition for p in context.partitions] == [1, 2]


def test_who_was_served_is_last_next_time(sessions: FetchSessions) -> None:
    session = start(sessions, 0, 1)
    served = FetchResult(high_watermark=5, records=RECORDS)
    told(open_session(sessions, session=(session, 1)), served, FetchResult(high_watermark=5))
    context = open_session(sessions, session=(session, 2))
    assert [p.partition for p in context.partitions] == [1, 0]


def test_a_session_without_partitions_closes(sessions: FetchSessions) -> None:
    session = start(sessions, 0)
    context = open_session(sessions, session=(session, 1), forgotten=[("t", 0)])
    assert context.answer([]) == FetchAnswer(ErrorCode.NONE, 0, [])
    assert len(sessions) == 0


@pytest.mark.parametrize(
    ("session_epoch", "by_topic_id", "error"),
    [
        (2, False, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (1, True, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR),
    ],
)
def test_a_request_that_does_not_fit_is_refused(
    sessions: FetchSessions, session_epoch: int, by_topic_id: bool, error: ErrorCode
) -> None:
    session = start(sessions, 0)
    context = open_session(sessions, session=(session, session_epoch), by_topic_id=by_topic_id)
    assert context.error is error


def test_an_unknown_session_is_refused(sessions: FetchSessions) -> None:
    context = open_session(sessions, session=(12, 1))
    assert context.error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_an_answer_overtaken_by_another_request_is_not_used(sessions: FetchSessions) -> None:
    session = start(sessions, 0)
    first = open_session(sessions, session=(session, 1))
    open_session(sessions, session=(session, 2))
    answer = told(first, FetchResult(high_watermark=9))
    assert answer.error is ErrorCode.INVALID_FETCH_SESSION_EPOCH


def test_the_final_epoch_closes_the_session_and_opens_none(sessions: FetchSessions) -> None:
    session = start(sessions, 0)
    answer = told(open_session(sessions, asked(0), session=(session, -1)), FetchResult())
    assert answer.session_id == 0
    assert len(sessions) == 0


def test_the_last_mention_of_a_partition_counts(sessions: FetchSessions) -> None:
    context = open_session(sessions, asked(0, 1), asked(0, 2))
    assert [p.fetch_offset for p in context.partitions] == [2]


def test_a_name_that_was_unknown_is_found_later(sessions: FetchSessions) -> None:
    unknown = FetchPartition((b"i" * 16, 0), None, b"i" * 16, 0, 0, 1_000)
    opened = open_session(sessions, unknown, by_topic_id=True)
    session = told(opened, FetchResult(ErrorCode.UNKNOWN_TOPIC_ID)).session_id
    context = open_session(sessions, session=(session, 1), by_topic_id=True)
    assert context.partitions[0].topic == "orders"


def test_a_consumer_finds_no_room_among_young_sessions(sessions: FetchSessions) -> None:
    assert start(sessions, 0)
    assert start(sessions, 0)
    assert start(sessions, 0, 1, 2) == 0


def test_a_follower_pushes_out_the_smallest_consumer(sessions: FetchSessions) -> None:
    small, large = start(sessions, 0), start(sessions, 0, 1)
    assert start(sessions, 0, from_follower=True)
    assert open_session(sessions, session=(small, 1)).error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert open_session(sessions, session=(large, 1)).error is ErrorCode.NONE


def test_a_consumer_never_pushes_out_a_follower_in_use(
    sessions: FetchSessions, scheduler: ManualScheduler
) -> None:
    followers = [start(sessions, 0, from_follower=True) for _ in range(2)]
    scheduler.advance(MIN_EVICTION_MS + 1)
    for session in followers:
        open_session(sessions, session=(session, 1))
    assert start(sessions, *range(9)) == 0


def test_an_older_and_smaller_session_yields(
    sessions: FetchSessions, scheduler: ManualScheduler
) -> None:
    small, large = start(sessions, 0), start(sessions, 0, 1, 2)
    scheduler.advance(MIN_EVICTION_MS + 1)
    for session in (small, large):
        open_session(sessions, session=(session, 1))
    assert start(sessions, 0, 1)
    assert open_session(sessions, session=(small, 2)).error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_an_unused_session_yields_to_anybody(
    sessions: FetchSessions, scheduler: ManualScheduler
) -> None:
    follower = start(sessions, 0, 1, from_follower=True)
    scheduler.advance(MIN_EVICTION_MS + 1)
    start(sessions, 0)
    assert start(sessions, 0)
    error = open_session(sessions, session=(follower, 1)).error
    assert error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_session_that_was_evicted_answers_what_is_under_way(
    sessions: FetchSessions, scheduler: ManualScheduler
) -> None:
    evicted = start(sessions, 0)
    start(sessions, 0)
    scheduler.advance(MIN_EVICTION_MS + 1)
    context = open_session(sessions, session=(evicted, 1))
    scheduler.advance(MIN_EVICTION_MS + 1)
    for _ in range(2):
        start(sessions, 0)
    assert open_session(sessions, session=(evicted, 2)).error
    assert mentioned(told(context, FetchResult(high_watermark=6))) == [0]


def test_a_session_that_is_over_leaves_no_cycle(sessions: FetchSessions) -> None:
    """Once the heap is frozen nobody would look for it (node/process/heap.py)."""
    session = start(sessions, 0, 1)
    told(open_session(sessions, session=(session, 1)), *[FetchResult()] * 2)
    gc.collect()
    gc.disable()
    try:
        open_session(sessions, session=(session, FINAL_EPOCH))
        assert gc.collect() == 0
    finally:
        gc.enable()
