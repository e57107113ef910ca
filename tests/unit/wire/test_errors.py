from __future__ import annotations

import pytest

from logquake.wire.errors import ErrorCode, RecordError, error_name


def test_codes_are_kafkas() -> None:
    assert len(ErrorCode) == 129
    assert ErrorCode(6) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert ErrorCode(-1) is ErrorCode.UNKNOWN_SERVER_ERROR
    assert sorted(ErrorCode) == list(range(-1, 128))


def test_what_clients_try_again_on() -> None:
    assert ErrorCode.NOT_LEADER_OR_FOLLOWER.retriable
    assert ErrorCode.CORRUPT_MESSAGE.retriable
    assert not ErrorCode.NONE.retriable
    assert not ErrorCode.INVALID_PRODUCER_EPOCH.retriable


@pytest.mark.parametrize("code", [128, -2, 32767, -32768])
def test_a_code_of_a_later_kafka_is_an_unknown_error_and_told_with_its_number(code: int) -> None:
    assert ErrorCode.of_peer(code) is ErrorCode.UNKNOWN_SERVER_ERROR
    assert error_name(code) == f"UNKNOWN_SERVER_ERROR (error code {code})"


def test_a_peers_code_that_is_known() -> None:
    assert [ErrorCode.of_peer(int(code)) for code in ErrorCode] == list(ErrorCode)
    assert error_name(-1) == "UNKNOWN_SERVER_ERROR"
    assert error_name(41) == "NOT_CONTROLLER"


def test_a_record_error_carries_its_code() -> None:
    error = RecordError(ErrorCode.INVALID_RECORD, "no key in a compacted topic")
    assert error.code is ErrorCode.INVALID_RECORD
    assert str(error) == "INVALID_RECORD: no key in a compacted topic"
