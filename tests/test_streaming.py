"""What counts as missing, doubled and out of order in what came out of a stream."""

from __future__ import annotations

import pytest

from tests.rounds.streaming.judgement import Counts, Seen, count
from tests.rounds.streaming.load import Size, number_in, rows_of
from tests.rounds.streams import GUARANTEES, Outcome

SIZE = Size(rows=5, keys=2)  # three of key 0, two of key 1
WHOLE = [Seen(0, 0, 0), Seen(1, 1, 0), Seen(0, 0, 1), Seen(1, 1, 1), Seen(0, 0, 2)]


@pytest.mark.parametrize(
    ("seen", "counts"),
    [
        (WHOLE, Counts(5, 5, missing=0, disordered=0, scattered=0)),
        (WHOLE[:-1], Counts(4, 4, missing=1, disordered=0, scattered=0)),
        ([*WHOLE, *WHOLE[2:4]], Counts(7, 5, missing=0, disordered=0, scattered=0)),
        ([WHOLE[2], *WHOLE[:2], *WHOLE[3:]], Counts(5, 5, missing=0, disordered=1, scattered=0)),
        ([*WHOLE[:-1], Seen(1, 0, 2)], Counts(5, 5, missing=0, disordered=0, scattered=1)),
    ],
    ids=["whole", "a row is missing", "an epoch is doubled", "out of order", "in two partitions"],
)
def test_what_came_out_is_counted(seen: list[Seen], counts: Counts) -> None:
    assert count(seen, SIZE) == counts
    assert counts.doubled == counts.rows - counts.distinct


def test_all_rows_that_are_written_are_expected() -> None:
    size = Size(rows=103, keys=10)
    written = [Seen(0, int(row.key), number_in(row.value)) for row in rows_of(size)]
    assert count(written, size) == Counts(103, 103, missing=0, disordered=0, scattered=0)


GOOD = Counts(5, 5, missing=0, disordered=0, scattered=0)
DOUBLED = Counts(7, 5, missing=0, disordered=0, scattered=0)
LOST = Counts(4, 4, missing=1, disordered=0, scattered=0)


@pytest.mark.parametrize(
    ("target", "sound"), [(GOOD, GUARANTEES), (DOUBLED, GUARANTEES[1:]), (LOST, ())]
)
def test_each_guarantee_is_held_to_what_it_says(target: Counts, sound: tuple[str, ...]) -> None:
    outcomes = [
        Outcome(guarantee, source=GOOD, target=target, by_spark=target) for guarantee in GUARANTEES
    ]
    assert tuple(each.guarantee for each in outcomes if each.is_sound) == sound


def test_two_readers_that_count_otherwise_are_a_fault() -> None:
    outcome = Outcome(GUARANTEES[1], source=GOOD, target=GOOD, by_spark=DOUBLED)
    assert not outcome.is_sound
    assert "Spark counts otherwise" in str(outcome)
