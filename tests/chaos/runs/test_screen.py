"""One screen, whatever the size of the terminal."""

from __future__ import annotations

import pytest
from rich.console import Console
from rich.text import Text

from logquake.chaos.faults.processes import Kill
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.runs.screen import Rates, picture
from logquake.chaos.runs.status import Status

LONG = "broker-1: leader-elected orders-0 " + "for a reason that takes many words " * 9


def status(faults: int) -> Status:
    after = {"leader": 1, "isr": [1, 2], "replicas": [1, 2, 3]}
    partitions = {
        name: Row(1, "harness", 1, Kind.OBSERVED, name, epoch=3, offset=812, after=after)
        for name in (f"orders-{each}" for each in range(30))
    }
    standing = [(Kill(target=str(each)), f"broker-{each}") for each in range(faults)]
    return Status("breaking", 7.0, {Kind.ACKED: 1_234_567}, partitions, standing)


def drawn(columns: int, rows: int, faults: int = 2) -> list[str]:
    rates = Rates()
    for second in range(1, 90):
        rates.note(second, second * 100)
    events = [Text(LONG, no_wrap=True, overflow="ellipsis")] * 60
    console = Console(width=columns, height=rows, force_terminal=True, color_system=None)
    shown = picture("a title", status(faults), rates, events, columns, rows)
    lines = console.render_lines(shown, console.options)
    return ["".join(segment.text for segment in line).rstrip() for line in lines]


@pytest.mark.parametrize("faults", [0, 2, 40])
@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (160, 50), (50, 16)])
def test_nothing_is_higher_or_wider_than_the_terminal(columns: int, rows: int, faults: int) -> None:
    lines = drawn(columns, rows, faults)
    assert len(lines) < rows
    assert max(map(len, lines)) <= columns
    text = "\n".join(lines)
    assert "100 acks/s" in text
    assert "orders-0" in text
    assert ("nothing is broken" in text) == (not faults)


def test_more_faults_than_there_is_room_for_are_counted() -> None:
    text = "\n".join(drawn(80, 24, faults=40))
    assert "kill 3 (broker-3)" in text
    assert "and 36 faults more" in text


def test_a_large_terminal_shows_more() -> None:
    small, large = ("\n".join(drawn(columns, rows)) for columns, rows in ((80, 24), (160, 50)))
    assert small.count("orders-") < large.count("orders-")
    assert small.count("leader-elected") < large.count("leader-elected")
