"""Invariants 20 and 21: what applications were handed, and what groups committed."""

from __future__ import annotations

from logquake.chaos.checkers.groups import groups
from logquake.chaos.checkers.readers import polls
from logquake.chaos.history.rows import Kind
from logquake.wire.records import ControlType
from tests.chaos.checkers.literals import READER, Batch, P, Run, cluster, log, marker, told


def reading(isolation: str = "read_uncommitted") -> Run:
    run = cluster()
    run.begin(READER, kind="reader", isolation=isolation)
    run.row(1, READER, Kind.ASSIGNED, P, offset=0)
    return run


def test_records_are_handed_on_in_order() -> None:
    run = reading()
    run.keep(log(1, Batch(0, (10, 11, 12, 13))))
    run.poll(10, 0, 10, 11)
    run.poll(11, 2, 12)
    assert told(polls, run) == []
    run.poll(12, 2, 12)
    assert "reader-2 went back in orders-0: offset 2 came after 2" in told(polls, run)[0]


def test_a_new_assignment_may_begin_anywhere() -> None:
    run = reading()
    run.keep(log(1, Batch(0, (10, 11, 12, 13))))
    run.poll(10, 0, 10, 11, 12)
    run.row(11, READER, Kind.ASSIGNED, P, offset=1)
    run.poll(12, 1, 11)
    run.row(13, READER, Kind.ASSIGNED, P, offset=3)
    run.poll(14, 3, 13)
    assert told(polls, run) == []


def test_what_is_passed_over_must_not_be_visible() -> None:
    run = reading()
    run.keep(log(1, Batch(0, (10, 11, 12, 13))))
    run.poll(10, 0, 10)
    run.poll(11, 3, 13)
    assert "reader-2 skipped in orders-0: offset 3 came after 0" in told(polls, run)[0]
    run.keep(log(1, Batch(0, (10,)), Batch(3, (13,))))  # compacted meanwhile
    assert told(polls, run) == []


def test_what_was_deleted_before_its_segment_goes_is_passed_over() -> None:
    run = reading()
    run.keep(log(1, Batch(0, (10, 11, 12, 13)), start=3))
    run.poll(10, 0, 10)
    run.poll(11, 3, 13)
    assert told(polls, run) == []


def test_who_reads_on_behind_what_was_cut_off_has_skipped_what_took_its_place() -> None:
    run = reading()
    run.keep(log(1, Batch(0, (10,)), Batch(1, (21, 22, 23), epoch=1)))
    run.poll(10, 0, 10, 11, 12)
    run.poll(20, 1, 21, 22)
    assert ["went back" in each for each in told(polls, run)] == [True]
    run = reading()
    run.keep(log(1, Batch(0, (10,)), Batch(1, (21, 22, 23), epoch=1)))
    run.poll(10, 0, 10, 11, 12)
    run.poll(20, 3, 23)
    assert told(polls, run) == [
        "reader-2 read on behind what was cut off in orders-0: offset 3 came after 2; 1 times in "
        "all"
    ]


ABORTED = (
    Batch(0, (10,)),
    Batch(1, (11,), 0, (7, 0, 0), transactional=True),
    marker(2, ControlType.ABORT, (7, 0)),
    Batch(3, (13,)),
)


def test_aborted_records_and_markers_are_passed_over() -> None:
    for isolation, problems in (("read_committed", 0), ("read_uncommitted", 1)):
        run = reading(isolation)
        run.keep(log(1, *ABORTED))
        run.poll(10, 0, 10)
        run.poll(11, 3, 13)
        assert len(told(polls, run)) == problems


def test_committed_records_are_not_read_before_somebody_asked_to_commit() -> None:
    committed = (
        Batch(0, (10,), 0, (7, 0, 0), transactional=True),
        Batch(1, (11,)),
        marker(2, ControlType.COMMIT, (7, 0)),
    )
    for at_ms, problems in ((21, 1), (23, 0)):
        run = reading("read_committed")
        run.keep(log(1, *committed))
        run.transaction(20, {10: 0})  # asked at 22
        run.poll(at_ms, 1, 11)
        assert len(told(polls, run)) == problems
    run = reading("read_committed")  # a transaction may be ended by its time-out
    run.keep(log(1, *committed))
    run.transaction(20, {10: 0}, outcome="unknown")
    run.poll(21, 1, 11)
    assert told(polls, run) == []


def assigned(run: Run, at_ms: int, member: str, generation: int, offset: int = 0) -> None:
    run.row(at_ms, member, Kind.ASSIGNED, P, group="g", epoch=generation, offset=offset)


def commit(
    run: Run, at_ms: int, member: str, offset: int, generation: int = 1, after: str = "kept"
) -> None:
    """Asked for then, and answered a millisecond later."""
    asked = run.row(at_ms, member, Kind.COMMIT_ASKED, P, group="g", offset=offset, epoch=generation)
    run.row(
        at_ms + 1,
        member,
        Kind.COMMIT_ANSWERED,
        P,
        group="g",
        offset=offset,
        after=after,
        caused_by=asked,
    )


def test_a_partition_has_one_owner_in_a_generation() -> None:
    run = Run.empty()
    assigned(run, 1, "a", 1)
    assigned(run, 2, "b", 2)
    assert told(groups, run) == []
    assigned(run, 3, "c", 2)
    (problem,) = told(groups, run)
    assert problem.startswith("b and c own orders-0 in generation 2 of group g, since ")


def static(run: Run, *lives: str) -> None:
    """Lives of one static member."""
    for life in lives:
        run.begin(life, kind="member", instance_id="static-1")


def test_another_life_of_a_static_member_is_no_second_owner() -> None:
    run = Run.empty()
    static(run, "a", "a-again")
    assigned(run, 1, "a", 1)
    assigned(run, 5, "a-again", 1)
    commit(run, 6, "a-again", 4)
    assert told(groups, run) == []
    assigned(run, 8, "b", 1, offset=4)
    assert len(told(groups, run)) == 1


def test_the_first_life_of_a_static_member_is_fenced() -> None:
    run = Run.empty()
    static(run, "a", "a-again")
    assigned(run, 1, "a", 1)
    commit(run, 2, "a", 4)
    assigned(run, 5, "a-again", 1, offset=4)
    commit(run, 6, "a", 4, after="refused")
    assert told(groups, run) == []
    commit(run, 8, "a", 4)
    (problem,) = told(groups, run)
    assert problem.startswith("a committed 4 of orders-0 in generation 1 of group g, and it was k")
    assert "a-again owned it in generation 1" in problem


def test_a_commit_of_who_lost_its_partition_is_refused() -> None:
    run = Run.empty()
    assigned(run, 1, "a", 1)
    assigned(run, 5, "b", 2)
    commit(run, 6, "a", 4, generation=1, after="refused")
    assert told(groups, run) == []
    commit(run, 8, "a", 4, generation=1)
    assert "a committed 4 of orders-0 in generation 1 of group g" in told(groups, run)[0]


def test_who_gave_its_partition_back_may_still_commit() -> None:
    run = Run.empty()
    assigned(run, 1, "a", 1)
    run.row(2, "a", Kind.REVOKED, P, group="g", epoch=1, after="revoked")
    assigned(run, 5, "b", 2)
    commit(run, 6, "a", 4, generation=1)
    assert told(groups, run) == []


def test_who_gave_it_back_later_may_not() -> None:
    run = Run.empty()
    assigned(run, 1, "a", 1)
    assigned(run, 5, "b", 2)
    commit(run, 6, "a", 4, generation=1)
    run.row(9, "a", Kind.REVOKED, P, group="g", epoch=1, after="lost")
    assert "a committed 4 of orders-0 in generation 1 of group g" in told(groups, run)[0]


def test_the_next_owner_begins_where_the_last_commit_was() -> None:
    run = Run.empty()
    assigned(run, 1, "a", 1)
    commit(run, 2, "a", 5)
    assigned(run, 9, "b", 2, offset=5)
    assert told(groups, run) == []
    assigned(run, 12, "c", 3, offset=3)
    (problem,) = told(groups, run)
    assert "c was assigned orders-0 of group g, and began at 3; a had committed 5" in problem


def test_where_nobody_told_a_member_to_begin_its_first_record_tells() -> None:
    for first, problems in ((5, 0), (7, 0), (0, 1)):
        run = Run.empty()
        assigned(run, 1, "a", 1)
        commit(run, 2, "a", 5)
        run.row(9, "b", Kind.ASSIGNED, P, group="g", epoch=2)
        run.row(10, "b", Kind.POLLED, P, group="g", offset=first, values=[11])
        run.row(11, "b", Kind.POLLED, P, group="g", offset=first + 1, values=[12])
        found = told(groups, run)
        assert len(found) == problems
        assert all("b was assigned orders-0 of group g, and began at 0" in each for each in found)


def test_the_next_owner_passes_over_nothing_that_nobody_committed() -> None:
    records = Batch(0, (10, 11, 12, 13, 14)), marker(5, ControlType.ABORT, (7, 0))
    # Of what was refused an earlier attempt may have been kept.
    outcomes = ((5, "unknown", 0), (4, "unknown", 1), (5, "refused", 0), (4, "refused", 1))
    for last, result, problems in outcomes:
        run = Run.empty()
        run.keep(log(1, *records))
        assigned(run, 1, "a", 1)
        commit(run, 2, "a", 3)
        commit(run, 4, "a", last, after=result)
        assigned(run, 9, "b", 2, offset=6)  # behind the marker
        found = told(groups, run)
        assert len(found) == problems
        assert all("and began at 6; a had committed 3" in each for each in found)


def test_a_log_that_lost_what_was_committed_has_no_place_to_begin_at() -> None:
    run = Run.empty()
    assigned(run, 1, "a", 1)
    commit(run, 2, "a", 5)
    run.event(4, 1, "committed-truncated")
    assigned(run, 9, "b", 2, offset=0)
    assert told(groups, run) == []


def test_a_commit_of_unknown_outcome_may_have_come_last() -> None:
    run = Run.empty()
    assigned(run, 1, "a", 1)
    commit(run, 2, "a", 3, after="unknown")
    commit(run, 4, "a", 5)
    assigned(run, 9, "b", 2, offset=3)
    assert told(groups, run) == []


def test_a_commit_lies_within_the_log() -> None:
    run = cluster()
    run.keep(log(1, Batch(0, (10, 11))))
    assigned(run, 1, "a", 1)
    commit(run, 2, "a", 2)
    assert told(groups, run) == []
    commit(run, 4, "a", 3)
    assert told(groups, run) == ["group g committed 3 of orders-0, which ends at 2"]
