"""One story that breaks several invariants, told of each."""

from __future__ import annotations

import pytest

from logquake.chaos.checkers.retelling import Retelling
from logquake.chaos.checkers.verdicts import Violation

STORY = ("1 is killed", "2 is elected", "1 truncates")


@pytest.mark.parametrize(
    ("chain", "told"),
    [
        (STORY, ("as told of durable above",)),
        (STORY[1:], ("as told of durable above",)),
        (
            (*STORY[:2], "2 is wiped"),
            ("as told of durable above, and besides:", "2 is wiped"),
        ),
        # Half of another story, or a sentence alone, is told: to look it up is no less to read.
        ((*STORY[:2], "3 is killed", "3 is back"), (*STORY[:2], "3 is killed", "3 is back")),
        (STORY[:1], STORY[:1]),
        (("3 is killed",), ("3 is killed",)),
        ((), ()),
    ],
)
def test_what_was_told_is_referred_to(chain: tuple[str, ...], told: tuple[str, ...]) -> None:
    retelling = Retelling()
    assert retelling.sentences(Violation("durable", "", STORY)) == STORY
    assert retelling.sentences(Violation("readable", "", chain)) == told


def test_the_first_that_told_it_is_named() -> None:
    retelling = Retelling()
    for invariant in ("durable", "readable"):
        retelling.sentences(Violation(invariant, "", STORY))
    assert retelling.sentences(Violation("one value", "", STORY)) == ("as told of durable above",)
