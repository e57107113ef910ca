"""The checker of groups' commits on tiny literal diaries, good and bad."""

from __future__ import annotations

from typing import Any

from logquake.chaos.group_commits import (
    Assigned,
    Commit,
    Diary,
    Place,
    Step,
    Taken,
    Verdict,
    check_commits,
    diaries_of,
)
from logquake.chaos.history.rows import Kind, Row

PLACE = Place("group", "orders", 0)


def assigned(at_us: int) -> Assigned:
    return Assigned(PLACE, at_us)


def taken(offset: int) -> Taken:
    return Taken(PLACE, offset)


def committed(offset: int, at_us: int) -> Commit:
    """Asked for a moment before it was answered."""
    return Commit(PLACE, offset, at_us - 1, at_us)


def unanswered(offset: int, asked_us: int) -> Commit:
    return Commit(PLACE, offset, asked_us, None)


def judge(*members: list[Step], end: int, log: tuple[int, ...] = ()) -> Verdict:
    diaries = []
    for number, steps in enumerate(members):
        diary = Diary(f"member-{number}")
        diary.steps += steps
        diaries.append(diary)
    return check_commits(diaries, {PLACE: end}, [(PLACE, offset) for offset in log])


def test_members_that_go_on_where_the_last_one_committed() -> None:
    first: list[Step] = [assigned(0), taken(0), taken(1), committed(2, at_us=3), taken(2)]
    second: list[Step] = [assigned(9), taken(2), taken(5), committed(6, at_us=12)]
    verdict = judge(first, second, end=6, log=(2, 6))
    assert verdict.holds
    assert (verdict.assignments, verdict.taken, verdict.answered) == (2, 5, 2)


def test_a_member_that_begins_below_an_answered_commit_shows_that_it_was_lost() -> None:
    first: list[Step] = [assigned(0), taken(0), taken(1), committed(2, at_us=3)]
    verdict = judge(first, [assigned(9), taken(1)], end=2)
    assert (verdict.lost, verdict.holds) == (1, False)
    assert "below 2 that was kept" in verdict.examples[0]


def test_a_commit_without_an_answer_may_be_lost_or_not() -> None:
    first: list[Step] = [assigned(0), taken(0), unanswered(1, asked_us=3)]
    assert judge(first, [assigned(9), taken(0)], end=-1).holds
    assert judge(first, [assigned(9), taken(1)], end=1).holds


def test_a_commit_that_is_answered_after_the_assignment_says_nothing_of_it() -> None:
    first: list[Step] = [assigned(0), taken(0), committed(1, at_us=10)]
    assert judge(first, [assigned(9), taken(0)], end=1).holds


def test_a_record_is_taken_once_within_an_assignment() -> None:
    assert judge([assigned(0), taken(3), taken(3)], end=-1).taken_twice == 1
    assert judge([assigned(0), taken(3), assigned(1), taken(3)], end=-1).holds


def test_a_commit_that_goes_back_is_a_zombies() -> None:
    second: list[Step] = [assigned(2), taken(4), committed(5, at_us=5)]
    zombie: list[Step] = [assigned(0), taken(0), committed(1, at_us=7)]
    verdict = judge(zombie, second, end=5)
    assert (verdict.went_back, verdict.holds) == (1, False)


def test_answers_that_overtake_each_other_are_not_in_order() -> None:
    slow: list[Step] = [assigned(0), taken(0), Commit(PLACE, 1, 0, 7)]
    assert judge(slow, [assigned(2), taken(4), committed(5, at_us=5)], end=5).holds


def test_the_log_of_commits_never_goes_back() -> None:
    first: list[Step] = [
        assigned(0),
        taken(0),
        committed(1, at_us=3),
        taken(1),
        committed(2, at_us=6),
    ]
    assert judge(first, end=2, log=(1, 1, 2)).holds
    assert judge(first, end=2, log=(2, 1)).went_back == 1


def test_at_the_end_the_group_is_where_it_was_told() -> None:
    first: list[Step] = [
        assigned(0),
        taken(0),
        committed(1, at_us=3),
        taken(1),
        unanswered(2, asked_us=4),
    ]
    assert judge(first, end=1).holds
    assert judge(first, end=2).holds
    assert judge(first, end=-1).wrong_at_the_end == 1
    assert judge(first, end=3).wrong_at_the_end == 1


def test_diaries_are_made_of_rows() -> None:
    def row(sequence: int, what: Kind, **fields: Any) -> Row:
        return Row(sequence, "m-1", sequence, what, "orders-0", group="group")._replace(**fields)

    rows = [
        row(1, Kind.ASSIGNED, epoch=1),
        row(2, Kind.POLLED, offset=5, values=[70, 71]),
        row(3, Kind.COMMIT_ASKED, offset=6),
        row(4, Kind.COMMIT_ANSWERED, offset=6, after="kept", caused_by=3),
        row(5, Kind.COMMIT_ASKED, offset=7),
        row(6, Kind.COMMIT_ANSWERED, offset=7, after="unknown", caused_by=5),
        row(7, Kind.TRANSACTION_BEGUN, group=None),
        row(8, Kind.COMMIT_ASKED, offset=8, caused_by=7),
        row(9, Kind.TRANSACTION_ENDED, group=None, after="committed", caused_by=7),
    ]
    (diary,) = diaries_of([Row(0, "other", 1, Kind.SEND, "orders-0"), *rows])
    assert diary.member == "m-1"
    assert diary.steps == [
        assigned(1),
        taken(5),
        taken(6),
        Commit(PLACE, 6, 3, 4),
        Commit(PLACE, 7, 5, None),
        Commit(PLACE, 8, 8, 9),
    ]
