"""Which transactions may begin in a log (KIP-890)."""

from __future__ import annotations

import pytest

from logquake.storage.producers.state import ProducerStates
from logquake.storage.producers.verification import VerificationGuard
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import BatchFlag, BatchHeader, ControlType, EndMarker

PID = 7
COMMIT = EndMarker(ControlType.COMMIT, 0)


def header(
    sequence: int = 0, *, epoch: int = 0, flags: int = BatchFlag.TRANSACTIONAL
) -> BatchHeader:
    return BatchHeader(0, 100, -1, 2, 0, flags, 0, 0, 0, PID, epoch, sequence, 1)


@pytest.fixture
def states() -> ProducerStates:
    states = ProducerStates()
    states.verifications.required = True
    return states


def begin(states: ProducerStates, sequence: int = 0, epoch: int = 0) -> VerificationGuard:
    guard = states.begin_verification(PID, epoch, sequence, now_ms=1_000)
    assert guard is not None
    return guard


def write(
    states: ProducerStates,
    sequence: int = 0,
    guard: VerificationGuard | None = None,
    epoch: int = 0,
) -> None:
    batch = header(sequence, epoch=epoch)
    assert states.check(batch, guard) is None
    states.append_data(batch, states.end_offset, 1_000)
    states.keep()


def end(states: ProducerStates) -> None:
    marker = header(-1, flags=BatchFlag.TRANSACTIONAL | BatchFlag.CONTROL)
    states.check_internal(marker, COMMIT)
    states.append_end_marker(marker, states.end_offset, COMMIT, 1_000)
    states.keep()


def refusal(
    states: ProducerStates, batch: BatchHeader, guard: VerificationGuard | None
) -> ErrorCode:
    with pytest.raises(RecordError) as refused:
        states.check(batch, guard)
    return refused.value.code


def test_a_transaction_begins_with_the_guard_of_its_verification(states: ProducerStates) -> None:
    assert refusal(states, header(), None) is ErrorCode.INVALID_TXN_STATE
    guard = begin(states)
    assert refusal(states, header(), None) is ErrorCode.INVALID_TXN_STATE
    write(states, 0, guard)
    write(states, 1)
    assert states.begin_verification(PID, 0, 2, now_ms=1_000) is None


def test_the_next_transaction_is_verified_anew(states: ProducerStates) -> None:
    guard = begin(states)
    write(states, 0, guard)
    end(states)
    assert refusal(states, header(1), guard) is ErrorCode.INVALID_TXN_STATE
    again = begin(states, 1)
    assert refusal(states, header(1), guard) is ErrorCode.INVALID_TXN_STATE
    write(states, 1, again)


def test_a_marker_ends_a_verification_even_of_a_producer_that_wrote_nothing(
    states: ProducerStates,
) -> None:
    late = begin(states)
    end(states)
    begin(states)
    assert refusal(states, header(), late) is ErrorCode.INVALID_TXN_STATE


def test_a_later_batch_does_not_come_before_one_that_is_being_verified(
    states: ProducerStates,
) -> None:
    begin(states, 5)
    guard = begin(states, 3)
    assert guard is begin(states, 7)
    assert refusal(states, header(5), guard) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    write(states, 3, guard)


def test_a_later_epoch_starts_its_sequences_anew(states: ProducerStates) -> None:
    begin(states, 3)
    guard = begin(states, 9, epoch=1)
    begin(states, 0, epoch=0)
    assert (guard.epoch, guard.lowest_sequence) == (1, 9)
    write(states, 9, guard, epoch=1)


def test_a_repeated_batch_needs_no_guard(states: ProducerStates) -> None:
    write(states, 0, begin(states))
    end(states)
    repeated = states.check(header(0), None)
    assert repeated is not None
    assert repeated.first_offset == 0


def test_a_coordinators_own_batches_are_verified_too(states: ProducerStates) -> None:
    with pytest.raises(RecordError) as refused:
        states.check_internal(header(-1), None)
    assert refused.value.code is ErrorCode.INVALID_TXN_STATE
    states.check_internal(header(-1), None, begin(states, -1))


def test_batches_of_no_transaction_ask_for_nothing(states: ProducerStates) -> None:
    assert states.check(header(0, flags=0)) is None


def test_nothing_is_verified_where_it_is_not_required(states: ProducerStates) -> None:
    states.verifications.required = False
    assert states.begin_verification(PID, 0, 0, now_ms=0) is None
    write(states)


def test_what_nobody_follows_up_is_forgotten(states: ProducerStates) -> None:
    guard = begin(states)
    states.expire(now_ms=1_099, expiration_ms=100)
    assert begin(states) is guard
    states.expire(now_ms=1_100, expiration_ms=100)
    assert begin(states) is not guard


def test_a_marker_is_held_against_the_coordinator_of_the_last_one(states: ProducerStates) -> None:
    marker = header(-1, flags=BatchFlag.TRANSACTIONAL | BatchFlag.CONTROL)
    with pytest.raises(RecordError) as refused:
        states.check_internal(marker, EndMarker(ControlType.ABORT, -2))
    assert refused.value.code is ErrorCode.TRANSACTION_COORDINATOR_FENCED
