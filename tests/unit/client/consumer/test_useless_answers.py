"""Whoever answers a Fetch with what is of no use is asked again after a while, not at once."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from logquake.client.consumer.fetch.taken import Taken
from logquake.client.errors import CorruptRecordError, UnsupportedVersionError
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.api_versions import ApiVersionsResponse
from logquake.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from logquake.wire.messages.group_membership import JoinGroupResponse, SyncGroupResponse
from logquake.wire.records import Record, encode_batch
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.cluster_in_memory import Handler, all_versions
from tests.unit.client.consumer.group.model_coordinator import ModelCoordinator
from tests.unit.client.consumer.lone_consumer import LoneConsumer

PLACE = TopicPartition("t", 0)
BACKOFF_MS = 200
IDLE_MS = 10_000


def reading(fetch: Handler | None) -> LoneConsumer:
    """Each Fetch takes a millisecond."""
    lone = LoneConsumer({}, retry_backoff_ms=BACKOFF_MS)

    def answer(request: Any, address: Any) -> Message | bytes | Exception | None:
        lone.clock.now += 1
        return fetch(request, address) if fetch else None

    lone.network.handlers[ApiKey.FETCH] = answer
    lone.call(lone.consuming.assign([PLACE]))
    lone.consuming.seeking.seek(PLACE, 0)
    return lone


def subscribing(key: ApiKey, refusal: Message) -> LoneConsumer:
    """A coordinator answers, with the refusal to each request of that key."""
    coordinator = ModelCoordinator(Random(1))
    lone = LoneConsumer({}, group_id="g", retry_backoff_ms=BACKOFF_MS)

    def answer(request: Message, _: object) -> Message:
        lone.clock.now += 1
        if request.__schema__.key == key:
            return refusal
        return coordinator.answer(request, refuses=False)

    lone.network.handlers |= dict.fromkeys(
        (ApiKey.FIND_COORDINATOR, ApiKey.HEARTBEAT, ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP), answer
    )
    lone.call(lone.consuming.subscribe(["t"], None))
    return lone


def fetches(lone: LoneConsumer) -> int:
    return len(lone.network.requests[ApiKey.FETCH])


def about(request: FetchRequest, data: PartitionData) -> FetchResponse:
    topics = [FetchableTopicResponse(topic_id=request.topics[0].topic_id, partitions=[data])]
    return FetchResponse(session_id=0, responses=topics)


@pytest.mark.parametrize(
    "useless",
    [
        FetchResponse(error_code=ErrorCode.INVALID_REQUEST),
        FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        FetchResponse(responses=[FetchableTopicResponse(topic_id=bytes(range(1, 17)))]),
        FetchResponse(session_id=5),  # nothing of what was asked for
        bytes(8),  # no frame
    ],
    ids=["refused", "no session", "another topic", "nothing", "no frame"],
)
def test_a_useless_answer_is_followed_by_a_pause(useless: Message | bytes) -> None:
    lone = reading(lambda *_: useless)
    lone.be_left_alone(IDLE_MS)
    asked = fetches(lone)
    assert IDLE_MS // BACKOFF_MS // 2 < asked <= IDLE_MS // BACKOFF_MS + 1
    assert lone.passes < 30 * asked


def test_records_go_on_at_once_though_their_broker_forgets_each_session() -> None:
    """It has more readers than it keeps sessions for; Kafka's clients too lose no time."""

    def fetch(request: FetchRequest, _: object) -> FetchResponse:
        if request.session_epoch > 0:
            return FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        at = request.topics[0].partitions[0].fetch_offset
        record = encode_batch([Record(at, 1, None, b"v")], base_offset=at)
        data = PartitionData(partition_index=0, error_code=0, high_watermark=at + 1)
        data.records = memoryview(bytes(record))
        begun = about(request, data)
        begun.session_id = 7
        return begun

    lone = reading(fetch)
    began_ms = lone.clock.now
    read = 0
    while read < 20:
        read += len(lone.call(lone.consuming.poll(BACKOFF_MS, Taken())))
    assert lone.clock.now - began_ms < BACKOFF_MS


def test_a_broker_that_does_not_wait_for_records_is_not_asked_all_the_time() -> None:
    def fetch(request: FetchRequest, _: object) -> FetchResponse:
        if request.session_id:
            return FetchResponse(session_id=request.session_id)
        begun = about(request, PartitionData(partition_index=0, error_code=0))
        begun.session_id = 7
        return begun

    lone = reading(fetch)
    lone.call(lone.consuming.poll(100, Taken()))
    lone.be_left_alone(IDLE_MS)
    asked = fetches(lone)
    assert IDLE_MS // BACKOFF_MS // 2 < asked <= IDLE_MS // BACKOFF_MS + 2
    assert lone.passes < 30 * asked


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.OFFSET_NOT_AVAILABLE,
    ],
)
def test_a_partition_whose_leader_refuses_is_asked_for_now_and_then(code: ErrorCode) -> None:
    """Of a topic that is deleted, say, though the program polls all the time."""
    refused = PartitionData(partition_index=0, error_code=code)
    lone = reading(lambda request, _: about(request, refused))
    lone.call(lone.consuming.poll(IDLE_MS, Taken()))
    asked = fetches(lone)
    assert IDLE_MS // BACKOFF_MS // 2 < asked <= IDLE_MS // BACKOFF_MS + 1
    assert lone.passes < 30 * asked


@pytest.mark.parametrize("code", [ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION])
@pytest.mark.parametrize("key", [ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP])
def test_a_coordinator_that_knows_no_member_is_asked_now_and_then(
    key: ApiKey, code: ErrorCode
) -> None:
    refusals: dict[ApiKey, Message] = {
        ApiKey.JOIN_GROUP: JoinGroupResponse(
            error_code=code, protocol_name="", leader="", member_id=""
        ),
        ApiKey.SYNC_GROUP: SyncGroupResponse(error_code=code),
    }
    lone = subscribing(key, refusals[key])
    lone.call(lone.consuming.poll(IDLE_MS, Taken()))
    asked = len(lone.network.requests[key])
    assert IDLE_MS // BACKOFF_MS // 2 < asked <= IDLE_MS // BACKOFF_MS + 10
    assert lone.passes < 30 * asked


@pytest.mark.parametrize("key", [ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP])
def test_a_coordinator_that_has_a_member_join_for_ever_is_asked_now_and_then(key: ApiKey) -> None:
    refusals: dict[ApiKey, Message] = {
        ApiKey.JOIN_GROUP: JoinGroupResponse(
            error_code=ErrorCode.MEMBER_ID_REQUIRED, protocol_name="", leader="", member_id="m1"
        ),
        ApiKey.SYNC_GROUP: SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS),
    }
    lone = subscribing(key, refusals[key])
    lone.call(lone.consuming.poll(100, Taken()))
    lone.be_left_alone(IDLE_MS)
    asked = len(lone.network.requests[key])
    assert IDLE_MS // BACKOFF_MS // 2 < asked <= IDLE_MS // BACKOFF_MS + 10


def test_a_broker_that_cannot_be_asked_is_left_alone_for_as_long() -> None:
    lone = reading(None)
    spoken = [each for each in all_versions().api_keys if each.api_key != ApiKey.FETCH]
    told = ApiVersionsResponse(api_keys=spoken)
    lone.network.handlers[ApiKey.API_VERSIONS] = lambda *_: told
    lone.be_left_alone(IDLE_MS)
    assert lone.passes < 10 * IDLE_MS // BACKOFF_MS
    with pytest.raises(UnsupportedVersionError):
        lone.call(lone.consuming.poll(0, Taken()))


@pytest.mark.parametrize("base", [2**63 - 1, 2**63 - 2])
def test_a_record_that_nothing_could_follow_makes_nobody_go_round_and_round(base: int) -> None:
    far = base.to_bytes(8) + encode_batch([Record(0, 1, None, b"v")])[8:]

    def fetch(request: FetchRequest, _: object) -> FetchResponse:
        data = PartitionData(partition_index=0, error_code=0, high_watermark=2**63 - 1)
        data.records = memoryview(bytes(far))
        return about(request, data)

    lone = reading(fetch)
    for _ in range(5):
        with pytest.raises(CorruptRecordError, match=f"offset {base}"):
            lone.call(lone.consuming.poll(1000, Taken()))
        lone.be_left_alone(IDLE_MS)
    assert (fetches(lone), lone.passes < 100) == (1, True)
    assert lone.call(lone.consuming.seeking.position(PLACE, 0)) == 0
