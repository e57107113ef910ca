"""A topic that is deleted and made anew: nobody can show any more what the first one held."""

from __future__ import annotations

import pytest

from logquake.chaos.checkers.judging import judge
from logquake.chaos.checkers.verdicts import Verdict
from logquake.chaos.history.rows import Kind
from logquake.zk.operations import Create, Delete
from logquake.zk.znodes.topics import PartitionState, TopicAssignment
from tests.chaos.checkers.literals import PRODUCER, Batch, P, Run, cluster, log, state


def broken(run: Run) -> set[str]:
    rulings = judge(run.evidence()).rulings
    return {one.invariant for one in rulings if one.verdict is Verdict.BROKEN}


def member(run: Run, at_ms: int, name: str, generation: int, offset: int) -> None:
    run.row(at_ms, name, Kind.ASSIGNED, P, group="g", epoch=generation, offset=offset)


def committed(run: Run, at_ms: int, name: str, offset: int) -> None:
    fields = {"group": "g", "offset": offset}
    asked = run.row(at_ms, name, Kind.COMMIT_ASKED, P, epoch=1, **fields)
    run.row(at_ms + 1, name, Kind.COMMIT_ANSWERED, P, after="kept", caused_by=asked, **fields)


def used(run: Run) -> None:
    """Three records are acked, one in a transaction; they are read, and committed to the group."""
    run.acked(11, 10, 0)
    run.acked(12, 11, 1)
    run.transaction(13, {12: 2})
    run.begin("early", 14, kind="reader", isolation="read_uncommitted")
    run.row(14, "early", Kind.ASSIGNED, P, offset=0)
    run.poll(17, 0, 10, 11, 12, process="early")
    run.look(18, 3, log_ends={"1": 3, "2": 3}, isr=[1, 2])
    member(run, 19, "a", 1, 0)
    committed(run, 20, "a", 3)


def made_anew(run: Run, at_ms: int) -> None:
    run.write(at_ms, Delete(PartitionState.path("orders", 0)))
    run.write(at_ms, Delete(TopicAssignment.path("orders")))
    assignment = TopicAssignment(None, {0: (1, 2)})
    run.write(at_ms + 5, Create(TopicAssignment.path("orders"), assignment.encode()))
    again = state(2, 0, (1, 2)).encode()
    run.write(at_ms + 6, Create(PartitionState.path("orders", 0), again))


def used_again(run: Run) -> None:
    member(run, 40, "a", 2, 0)
    run.acked(41, 20, 0)
    run.look(42, 1, log_ends={"1": 1, "2": 1}, isr=[1, 2])
    run.reader(50, 20)
    run.keep(log(1, Batch(0, (20,))), log(2, Batch(0, (20,))))


def test_nobody_is_blamed_for_what_went_with_the_topic() -> None:
    run = cluster()
    used(run)
    made_anew(run, 30)
    used_again(run)
    assert broken(run) == set()


def test_without_the_deletion_all_of_it_is_lost() -> None:
    run = cluster()
    used(run)
    used_again(run)
    lost = {"durable", "readable", "one value", "repeatable read", "high watermark", "groups"}
    assert broken(run) >= lost


def test_what_is_lost_after_it_is_lost() -> None:
    run = cluster()
    used(run)
    made_anew(run, 30)
    used_again(run)
    run.acked(45, 21, 1)
    assert broken(run) >= {"durable", "readable"}


@pytest.mark.parametrize("first", [(10,), (20,)])
def test_a_record_may_be_read_after_its_log_is_gone(first: tuple[int, ...]) -> None:
    """It waited in the client."""
    run = cluster()
    used(run)
    made_anew(run, 30)
    used_again(run)
    run.row(43, "early", Kind.ASSIGNED, P, offset=0)
    run.poll(44, 0, *first, process="early")
    assert broken(run) == set()


def test_a_send_that_was_under_way_may_be_in_either() -> None:
    run = cluster()
    sent = run.send(25, 20)
    made_anew(run, 30)
    run.answer(41, Kind.ACKED, 20, offset=0, caused_by=sent)
    run.reader(50, 20)
    run.keep(log(1, Batch(0, (20,))), log(2, Batch(0, (20,))))
    assert broken(run) == set()
    run.keep(log(1), log(2))
    assert "durable" not in broken(run)


def test_sends_to_a_topic_that_is_gone_for_good_fail() -> None:
    run = cluster()
    used(run)
    run.row(22, "harness", Kind.FAULT_ENDED, "broker-1")
    run.write(30, Delete(PartitionState.path("orders", 0)))
    run.write(30, Delete(TopicAssignment.path("orders")))
    sent = run.send(90_000, 30)
    run.answer(90_001, Kind.UNKNOWN, 30, PRODUCER, why="UNKNOWN_TOPIC_OR_PART", caused_by=sent)
    assert broken(run) == set()
    there = cluster()
    there.row(22, "harness", Kind.FAULT_ENDED, "broker-1")
    sent = there.send(90_000, 30)
    there.answer(90_001, Kind.UNKNOWN, 30, PRODUCER, why="_MSG_TIMED_OUT", caused_by=sent)
    assert broken(there) == {"live"}
