"""Answers without a look at everything are those of a look at everything."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from logquake.chaos.checkers.progress import Generations, Progress
from logquake.chaos.evidence.clients import NONE, Commit
from logquake.chaos.history.rows import Kind, Row

MOMENTS = st.integers(0, 12)
MEMBERS = st.sampled_from("abc")
ASSIGNED = st.builds(
    lambda at_us, process, generation: Row(at_us, process, 1, Kind.ASSIGNED, "o-0", generation),
    MOMENTS,
    MEMBERS,
    st.none() | st.integers(1, 5),
)


@given(st.lists(ASSIGNED), MEMBERS, st.integers(0, 5), MOMENTS)
def test_who_was_assigned_it_later(
    assigned: list[Row], process: str, generation: int, before_us: int
) -> None:
    rows = sorted(assigned, key=lambda row: row.at_us)
    expected = next(
        (
            row
            for row in rows
            if row.epoch is not None
            and row.epoch > generation
            and row.process != process
            and row.at_us < before_us
        ),
        None,
    )
    assert Generations(rows).later(process, generation, before_us) == expected


@st.composite
def commits(draw: st.DrawFn) -> Commit:
    asked_us = draw(MOMENTS)
    result = draw(st.sampled_from(["kept", "refused", "unknown"]))
    answered_us = asked_us + draw(st.integers(0, 6))
    if result == "unknown" and draw(st.booleans()):
        return Commit("a", "g", "o-0", draw(st.integers(0, 9)), 1, NONE, asked_us)
    offset = draw(st.integers(0, 9))
    return Commit("a", "g", "o-0", offset, 1, NONE, asked_us, answered_us, result)


@given(st.lists(commits()), MOMENTS)
def test_where_a_group_may_go_on(asked: list[Commit], before_us: int) -> None:
    progress = Progress(asked)
    kept = [c for c in asked if c.result == "kept" and (c.answered_us or 0) < before_us]
    last = progress.last_kept(before_us)
    if last is None:
        assert kept == []
        return
    assert last in kept
    assert last.answered_us == max(c.answered_us or 0 for c in kept)
    may_be_last = [
        c.offset
        for c in asked
        if c.result != "refused"
        and c.asked_us < before_us
        and (c.result == "unknown" or (c.answered_us or 0) > last.asked_us)
    ]
    assert progress.least_since(last, before_us) == min([last.offset, *may_be_last])
    assert progress.most_asked(before_us) == max(c.offset for c in asked if c.asked_us < before_us)
