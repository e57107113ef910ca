from __future__ import annotations

from logquake.wire.errors import ErrorCode, RecordError


def test_codes_are_kafkas() -> None:
    assert len(ErrorCode) == 129
    assert ErrorCode(6) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert ErrorCode.UNKNOWN_SERVER_ERROR == -1
    assert sorted(ErrorCode) == list(range(-1, 128))


def test_what_clients_try_again_on() -> None:
    assert ErrorCode.NOT_LEADER_OR_FOLLOWER.retriable
    assert ErrorCode.CORRUPT_MESSAGE.retriable
    assert not ErrorCode.NONE.retriable
    assert not ErrorCode.INVALID_PRODUCER_EPOCH.retriable


def test_a_record_error_carries_its_code() -> None:
    error = RecordError(ErrorCode.INVALID_RECORD, "no key in a compacted topic")
    assert error.code is ErrorCode.INVALID_RECORD
    assert str(error) == "INVALID_RECORD: no key in a compacted topic"
