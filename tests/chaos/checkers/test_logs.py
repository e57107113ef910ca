"""Invariants 6 to 9 and 19: producers' sequences, and replicas' files against each other."""

from __future__ import annotations

import pytest

from logquake.chaos.checkers.acking import fencing
from logquake.chaos.checkers.producers import idempotence, send_order
from logquake.chaos.checkers.replicas import log_matching, shape
from logquake.chaos.evidence.stored import StoredLog
from logquake.wire.records import ControlType
from tests.chaos.checkers.literals import Batch, Run, cluster, log, marker, state, told


def of(*logs: StoredLog) -> Run:
    run = cluster()
    run.keep(*logs)
    return run


def batch(first: int, sequence: int, epoch: int = 0, producer: int = 7, size: int = 2) -> Batch:
    return Batch(first, tuple(range(first, first + size)), 0, (producer, epoch, sequence))


@pytest.mark.parametrize(
    "batches",
    [
        (batch(0, 0), batch(2, 2), batch(4, 0, producer=8), batch(6, 4)),
        (batch(0, 0), batch(2, 0, epoch=1)),
        (batch(0, 2**31 - 1), batch(2, 1)),
        (batch(0, 5), batch(2, 7)),  # of whom nothing was known
        (batch(0, 0), marker(2, ControlType.ABORT, (7, 1)), batch(3, 0, epoch=1)),
        (batch(0, 0, producer=-1), batch(2, 0, producer=-1)),
    ],
)
def test_sequences_go_on_where_the_last_batch_ended(batches: tuple[Batch, ...]) -> None:
    assert told(idempotence, of(log(1, *batches))) == []


def test_a_gap_and_a_repetition_are_told() -> None:
    gap = of(log(1, batch(0, 0), batch(2, 3)))
    assert told(idempotence, gap) == [
        "offset 2 of orders-0 has sequence 3 of epoch 0 of producer 7: 2 was to follow"
    ]
    assert len(told(idempotence, of(log(1, batch(0, 0), batch(2, 0))))) == 1
    assert len(told(idempotence, of(log(1, batch(0, 0), batch(2, 4, epoch=1))))) == 1


def test_a_log_that_does_not_begin_at_its_beginning_has_forgotten_producers() -> None:
    assert told(idempotence, of(log(1, batch(4, 9), batch(6, 0), start=4))) == []


def test_one_value_twice_in_one_producer_epoch_is_a_duplicate() -> None:
    one, again = Batch(0, (10,), 0, (7, 0, 0)), Batch(1, (10,), 0, (7, 0, 1))
    (problem,) = told(idempotence, of(log(1, one, again)))
    assert "number 10 is at offsets 0 and 1 of orders-0" in problem


def test_what_the_client_sent_again_under_another_epoch_is_its_own_doing() -> None:
    one, again = Batch(0, (10,), 0, (7, 0, 0)), Batch(1, (10,), 0, (7, 1, 0))
    assert told(idempotence, of(log(1, one, again))) == []


def test_a_producers_acks_follow_its_sends() -> None:
    run = cluster()
    run.acked(10, 10, 0)
    run.acked(11, 11, 1)
    run.acked(12, 20, 9, "producer-9")
    assert told(send_order, run) == []
    run.acked(13, 12, 1)
    (problem,) = told(send_order, run)
    assert "producer-1 sent number 11 before 12 to orders-0" in problem


def test_without_idempotence_sends_may_overtake_each_other() -> None:
    run = cluster()
    run.producer("producer-3", idempotent=False)
    run.acked(10, 10, 1, "producer-3")
    run.acked(11, 11, 0, "producer-3")
    assert told(send_order, run) == []


A, B, C = Batch(0, (1, 2)), Batch(2, (3,)), Batch(3, (4,), 1)


def test_members_are_the_same_up_to_the_high_watermark() -> None:
    assert told(log_matching, of(log(1, A, B, C), log(2, A, B, C))) == []
    assert told(log_matching, of(log(1, A, B, C), log(2, A, B))) == []  # nothing above is committed
    assert len(told(log_matching, of(log(1, A, B), log(2, A, Batch(2, (9,)))))) == 1


def test_a_log_that_was_rolled_or_begins_elsewhere_is_the_same() -> None:
    assert told(log_matching, of(log(1, A, B, C), log(2, B, C, start=2))) == []


def test_who_left_the_isr_may_have_parted() -> None:
    run = of(log(1, A, C), log(2, A, Batch(2, (9,))))
    run.state(5, state(1, 1, (1,)))
    assert told(log_matching, run) == []
    run = of(log(1, A, B, C), log(2, A, Batch(2, (9,)), C))  # and then the same again
    run.state(5, state(1, 1, (1,)))
    assert told(log_matching, run) == [
        "brokers 1 and 2 differ in orders-0 at offset 2, before what both have"
    ]


def test_compacted_logs_may_lack_records_but_not_differ() -> None:
    run = of(log(1, Batch(0, (1, 2, 3))), log(2, Batch(0, (1,)), Batch(2, (3,))))
    run.topic(cleanup_policy="compact,delete")
    assert told(log_matching, run) == []
    run.keep(log(1, Batch(0, (1, 2, 3))), log(2, Batch(0, (1,)), Batch(2, (9,))))
    assert len(told(log_matching, run)) == 1


@pytest.mark.parametrize(
    ("one", "problem"),
    [
        (log(1, A, B, C), None),
        (log(1, A, B, C, epochs=[(0, 0), (1, 3), (2, 4)]), None),  # of a leader that wrote nothing
        (log(1, B, C, start=2, epochs=[(0, 2), (1, 3)]), None),
        (log(1, A, C), "offset 3 follows 1"),
        (log(1, Batch(0, (1,), 1), Batch(1, (2,), 0), epochs=[(1, 0), (0, 1)]), "a later one"),
        (log(1, A, damage="at byte 90: crc"), "damaged at byte 90: crc"),
        (
            log(1, A, B, C, epochs=[(0, 0)]),
            "1 begins at 3, leader-epoch-checkpoint says None",
        ),
        (log(1, A, B, C, epochs=[(0, 0), (1, 2)]), "leader-epoch-checkpoint says 2"),
        (log(1, A, B, epochs=[(0, 0), (1, 3)]), None),  # of a leader that wrote nothing yet
        (log(1, A, B, epochs=[(0, 0), (1, 9)]), "begin at 9, behind the end"),
        (log(1, A, B, epochs=[(0, 0), (1, 2)]), "the batch at 2 is of epoch 0"),
        (log(1, A, B, C, epochs=[(0, 0), (1, 3), (2, 3)]), "the batch at 3 is of epoch 1"),
    ],
)
def test_the_shape_of_a_log(one: StoredLog, problem: str | None) -> None:
    problems = told(shape, of(one))
    assert (problem is None and not problems) or (problem or "") in problems[0]


def test_an_epoch_of_a_producers_does_not_come_back() -> None:
    good = of(log(1, batch(0, 0), marker(2, ControlType.ABORT, (7, 1)), batch(3, 0, epoch=1)))
    assert told(fencing, good) == []
    bad = of(log(1, batch(0, 0), marker(2, ControlType.ABORT, (7, 1)), batch(3, 2, epoch=0)))
    assert len(told(fencing, bad)) == 1


def test_what_is_sent_after_a_leader_took_office_is_not_acked_by_the_one_before() -> None:
    run = cluster()
    run.acked(21, 1, 0)
    run.event(30, 2, "role-changed", after="leader", epoch=1)
    run.keep(log(2, A, C), log(1, A, C))
    assert told(fencing, run) == []
    run.acked(40, 2, 1)
    (problem,) = told(fencing, run)
    assert "number 2 was sent to orders-0 at 00:00:00.039 and acked at epoch 0" in problem


def test_what_is_sent_in_the_millisecond_of_taking_office_may_be_acked_by_the_one_before() -> None:
    run = cluster()
    run.event(30, 2, "role-changed", after="leader", epoch=1)
    run.acked(31, 1, 0)  # sent at 30
    run.keep(log(2, A, C), log(1, A, C))
    assert told(fencing, run) == []
