from __future__ import annotations

import pytest

from logquake.storage.producers.entry import MAX_SEQUENCE
from logquake.storage.producers.state import ProducerStates
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import BatchFlag, BatchHeader, ControlType, EndMarker


def header(
    sequence: int, count: int = 1, epoch: int = 0, flags: int = 0, pid: int = 7
) -> BatchHeader:
    return BatchHeader(
        0, 100, -1, 2, 0, flags, count - 1, 0, 0, pid, epoch, sequence, count
    )  # fmt: skip


def states_after(*batches: BatchHeader) -> ProducerStates:
    states = ProducerStates()
    for batch in batches:
        assert states.check(batch) is None
        states.append_data(batch, states.end_offset, 1_000)
    states.keep()
    return states


def code_of(states: ProducerStates, batch: BatchHeader) -> ErrorCode:
    with pytest.raises(RecordError) as refused:
        states.check(batch)
    return refused.value.code


def test_sequences_continue() -> None:
    states = states_after(header(0, 5), header(5, 5))
    assert states.check(header(10)) is None
    assert states.end_offset == 10


@pytest.mark.parametrize("sequence", [11, 9, 3])
def test_a_gap_or_a_step_back_is_out_of_order(sequence: int) -> None:
    states = states_after(header(0, 10))
    assert code_of(states, header(sequence)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_the_last_five_batches_are_known_as_duplicates() -> None:
    states = states_after(*(header(2 * number, 2) for number in range(6)))
    for number in range(1, 6):
        found = states.check(header(2 * number, 2))
        assert found is not None
        assert (found.first_offset, found.last_offset) == (2 * number, 2 * number + 1)
    assert code_of(states, header(0, 2)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_part_of_an_earlier_batch_is_no_duplicate() -> None:
    states = states_after(header(0, 4))
    assert code_of(states, header(2, 2)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_an_unknown_producer_may_begin_anywhere() -> None:
    assert ProducerStates().check(header(1234)) is None


def test_an_older_epoch_is_fenced() -> None:
    states = states_after(header(0, epoch=3))
    assert code_of(states, header(1, epoch=2)) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_newer_epoch_begins_with_zero_and_forgets_the_old_batches() -> None:
    states = states_after(header(0, epoch=3))
    assert code_of(states, header(1, epoch=4)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert states.check(header(0, epoch=4)) is None
    states.append_data(header(0, epoch=4), 1, 0)
    assert len(states.entries()[0].batches) == 1
    assert code_of(states, header(0, epoch=3)) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_sequences_wrap_to_zero() -> None:
    states = states_after(header(MAX_SEQUENCE - 1, 2))
    assert states.check(header(0)) is None
    within = states_after(header(MAX_SEQUENCE, 3))
    assert within.check(header(2)) is None
    duplicate = within.check(header(MAX_SEQUENCE, 3))
    assert duplicate is not None
    assert duplicate.first_sequence == MAX_SEQUENCE


def test_roll_back_undoes_everything_since_keep() -> None:
    states = states_after(header(0))
    states.append_data(header(1), 1, 2_000)
    states.append_data(header(2), 2, 2_000)
    states.append_data(header(0, pid=8), 3, 2_000)
    states.roll_back()
    assert (len(states), states.end_offset) == (1, 1)
    assert states.check(header(1)) is None
    assert states.get(8) is None


def test_an_idle_producer_is_forgotten_but_not_within_a_transaction() -> None:
    states = states_after(header(0), header(0, flags=BatchFlag.TRANSACTIONAL, pid=8))
    states.expire(now_ms=1_999, expiration_ms=1_000)
    assert len(states) == 2
    states.expire(now_ms=2_000, expiration_ms=1_000)
    assert [entry.producer_id for entry in states.entries()] == [8]


COMMIT = EndMarker(ControlType.COMMIT, 5)
ABORT = EndMarker(ControlType.ABORT, 5)
MARKER_FLAGS = BatchFlag.TRANSACTIONAL | BatchFlag.CONTROL


def in_transaction(*, begins_at: int, pid: int = 7) -> ProducerStates:
    """Producer pid wrote two records of a transaction at begins_at, which are kept."""
    states = ProducerStates()
    states.append_data(header(0, 2, flags=BatchFlag.TRANSACTIONAL, pid=pid), begins_at, 1_000)
    states.keep()
    return states


def end_marker(epoch: int = 0, pid: int = 7) -> BatchHeader:
    return header(-1, epoch=epoch, flags=MARKER_FLAGS, pid=pid)


def test_an_end_marker_ends_the_transaction_and_keeps_the_sequence() -> None:
    states = in_transaction(begins_at=0)
    assert states.entries()[0].current_txn_first_offset == 0
    assert states.append_end_marker(end_marker(), 2, COMMIT, timestamp=3_000) is None
    entry = states.entries()[0]
    assert (entry.current_txn_first_offset, entry.coordinator_epoch) == (-1, 5)
    assert (entry.last_sequence, states.end_offset) == (1, 3)


def test_an_abort_is_for_the_index_with_the_last_stable_offset_after_it() -> None:
    states = in_transaction(begins_at=10)
    assert states.append_end_marker(end_marker(), 12, ABORT, 0) == (7, 10, 12, 13)


def test_the_last_stable_offset_after_an_abort_stops_at_an_earlier_transaction() -> None:
    states = in_transaction(begins_at=4, pid=8)
    states.append_data(header(0, flags=BatchFlag.TRANSACTIONAL), 6, 1_000)
    assert states.append_end_marker(end_marker(), 7, ABORT, 0) == (7, 6, 7, 4)


def test_a_marker_of_an_empty_transaction_decides_nothing() -> None:
    states = states_after(header(0, 2))
    assert states.append_end_marker(end_marker(epoch=3), 2, ABORT, 9) is None
    assert states.transactions.first_unstable_offset is None
    entry = states.entries()[0]
    # The marker's epoch is the producer's from then on, and it begins to count anew.
    assert (entry.epoch, entry.last_sequence, entry.last_timestamp) == (3, -1, 9)


def test_a_write_outside_of_the_transaction_is_refused_while_it_lasts() -> None:
    states = in_transaction(begins_at=0)
    assert code_of(states, header(2)) == ErrorCode.INVALID_TXN_STATE
    states.append_end_marker(end_marker(), 2, COMMIT, 0)
    assert states.check(header(2)) is None


@pytest.mark.parametrize(
    ("epoch", "coordinator_epoch", "code"),
    [
        (2, 9, ErrorCode.INVALID_PRODUCER_EPOCH),
        (3, 4, ErrorCode.TRANSACTION_COORDINATOR_FENCED),
        (3, 5, None),
        (4, 6, None),
    ],
)
def test_markers_of_outdated_producers_and_coordinators_are_fenced(
    epoch: int, coordinator_epoch: int, code: ErrorCode | None
) -> None:
    states = states_after(header(0, epoch=3))
    states.append_end_marker(end_marker(epoch=3), 1, COMMIT, 0)
    marker = EndMarker(ControlType.ABORT, coordinator_epoch)
    if code is None:
        states.check_internal(end_marker(epoch), marker)
        return
    with pytest.raises(RecordError) as refused:
        states.check_internal(end_marker(epoch), marker)
    assert refused.value.code is code


def test_a_coordinators_batch_has_no_sequence_but_an_epoch() -> None:
    states = states_after(header(0, epoch=3))
    states.check_internal(header(-1, epoch=3), None)
    with pytest.raises(RecordError) as refused:
        states.check_internal(header(-1, epoch=2), None)
    assert refused.value.code is ErrorCode.INVALID_PRODUCER_EPOCH


def test_roll_back_reopens_a_transaction_and_forgets_a_begun_one() -> None:
    states = in_transaction(begins_at=5)
    states.append_end_marker(end_marker(), 7, ABORT, 0)
    states.append_data(header(2, flags=BatchFlag.TRANSACTIONAL), 8, 0)
    states.append_data(header(0, flags=BatchFlag.TRANSACTIONAL, pid=8), 9, 0)
    states.append_end_marker(end_marker(pid=8), 10, COMMIT, 0)
    states.roll_back()
    assert states.transactions.first_undecided_offset == 5
    states.transactions.replicated_to(100)
    assert states.transactions.first_unstable_offset == 5
    assert states.append_end_marker(end_marker(), 7, ABORT, 0) == (7, 5, 7, 8)
