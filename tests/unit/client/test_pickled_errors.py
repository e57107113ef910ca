"""An error that a program's worker process raises reaches the program as it was."""

from __future__ import annotations

import pickle

import pytest

from logquake.client.classic.errors import MessageTooLargeError
from logquake.client.consumer.position import FetchPosition, LogTruncatedError, LogTruncation
from logquake.client.errors import (
    ClientError,
    CorruptRecordError,
    DeliveryError,
    NoOffsetForPartitionError,
    OffsetOutOfRangeError,
    ProducerFencedError,
    RecordDeserializationError,
    ThrottlingQuotaExceededError,
    TimedOutError,
    broker_error,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition

PLACE = TopicPartition("t", 0)
BROKER = broker_error(ErrorCode.NOT_LEADER_OR_FOLLOWER, "t-0")

ERRORS = [
    TimedOutError("no answer"),
    BROKER,
    broker_error(32_000, "a code of the future"),
    ThrottlingQuotaExceededError(100, "slower"),
    OffsetOutOfRangeError("t-0"),
    LogTruncatedError([LogTruncation(PLACE, FetchPosition(7, 1), None)]),
    RecordDeserializationError(PLACE, 7, "value"),
    CorruptRecordError(PLACE, 7, "its CRC"),
    NoOffsetForPartitionError([PLACE]),
    ProducerFencedError("InitProducerId"),
    MessageTooLargeError(PLACE, 7),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_one_that_was_pickled_is_as_it_was(error: ClientError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.retriable == error.retriable
    assert vars(again) == vars(error)


def test_one_that_was_pickled_has_its_cause() -> None:
    again = pickle.loads(pickle.dumps(DeliveryError(BROKER, may_be_written=True)))
    assert again.may_be_written
    assert again.cause.code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert str(again.cause) == str(BROKER)
