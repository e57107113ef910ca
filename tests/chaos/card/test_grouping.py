"""Many faults as the worst of each kind."""

from __future__ import annotations

from logquake.chaos.card.card import Card, FaultEntry, Figures
from logquake.chaos.card.grouping import Group, grouped, worst

SLOW = Figures(unavailable_ms={"produce": 900}, recovered_ms={"produce": 950}, retries=3)
LOST = Figures(
    unavailable_ms={"fetch": 80}, recovered_ms={"produce": None}, failed={"TIMED_OUT": 2}
)


def entry(kind: str, figures: Figures, refused: str | None = None) -> FaultEntry:
    return FaultEntry(kind, "broker-1", "", 1.5, 2.0, refused, {"shop": figures})


def test_of_each_figure_the_largest_counts_and_never_is_longest() -> None:
    assert worst([SLOW, LOST, SLOW]) == Figures(
        unavailable_ms={"produce": 900, "fetch": 80},
        recovered_ms={"produce": None},
        failed={"TIMED_OUT": 2},
        retries=3,
    )
    assert worst([]) == Figures()


def test_few_faults_stand_for_themselves_and_many_for_their_kind() -> None:
    faults = (entry("kill", SLOW), entry("pause", SLOW), entry("kill", LOST))
    card = Card((*faults, entry("kill", LOST, refused="it is down")), {}, {})
    assert [one.title for one in grouped(card)] == [
        "1.5 s: kill broker-1 for 2.0 s",
        "1.5 s: pause broker-1 for 2.0 s",
        "1.5 s: kill broker-1 for 2.0 s",
    ]
    assert grouped(card, most=2) == [
        Group("kill, the worst of 2", {"shop": worst([SLOW, LOST])}),
        Group("pause, the worst of 1", {"shop": SLOW}),
    ]
