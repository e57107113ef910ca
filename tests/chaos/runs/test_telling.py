"""What goes by off a terminal: readable however many partitions one kill changes."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from logquake.chaos.faults.processes import Kill
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.runs.screen import PlainScreen
from logquake.chaos.runs.status import Status
from logquake.chaos.runs.telling import Teller, in_short

KILL = {"kind": "kill", "target": "broker-1"}


def elected(subject: str, process: str = "broker-3", what: str = "leader-elected") -> Row:
    return Row(5_000_000, process, 1, what, subject, why="broker 2 is the first online replica")


def told(*rows: Row) -> list[str]:
    """Without their times."""
    return [one.line.split("  ", 1)[1] for one in Teller().tell(rows)]


def test_leaders_that_one_broker_elects_at_once_are_one_line() -> None:
    internal = [elected(f"__consumer_offsets-{each}") for each in range(32)]
    assert told(*internal, elected("orders-2"), elected("orders-5")) == [
        "broker-3: 34 leaders elected: orders-2, orders-5 and 32 of internal topics; "
        "orders-2: broker 2 is the first online replica"
    ]
    assert told(*internal)[0].startswith(
        "broker-3: 32 leaders elected: 32 of internal topics; __consumer_offsets-0: broker 2"
    )


def test_one_is_told_alone() -> None:
    line = "broker-3: leader-elected orders-2: broker 2 is the first online replica"
    assert told(elected("orders-2")) == [line]


def test_what_other_brokers_decide_or_what_is_decided_otherwise_has_a_line_of_its_own() -> None:
    rows = [
        elected("orders-0"),
        elected("orders-0", process="broker-2"),
        elected("orders-1"),
        elected("orders-1", what="unclean-leader-elected"),
    ]
    assert [line.split(":")[0:2] for line in told(*rows)] == [
        ["broker-3", " 2 leaders elected"],
        ["broker-2", " leader-elected orders-0"],
        ["broker-3", " unclean-leader-elected orders-1"],
    ]


def test_of_many_topics_the_first_are_named() -> None:
    (line,) = told(*(elected(f"orders-{each}") for each in range(40)))
    assert "orders-3, orders-4 and 35 more; orders-0: broker 2" in line


def test_brokers_that_are_down_are_told_one_by_one() -> None:
    rows = [elected(f"broker-{each}", what="broker-down") for each in (1, 2)]
    assert [line.split(":")[1] for line in told(*rows)] == [
        " broker-down broker-1",
        " broker-down broker-2",
    ]


def test_a_fault_s_end_says_which_and_how_long_it_stood() -> None:
    begun = Row(1_000_000, "harness", 7, Kind.FAULT_BEGUN, "broker-1", after=KILL)
    ended = Row(7_200_000, "harness", 9, Kind.FAULT_ENDED, "broker-1", caused_by=7)
    refused = ended._replace(why="it could not be done: it is down")
    assert told(begun, ended) == [
        "✗ kill broker-1",
        "✓ healed kill broker-1 after 6.2 s",
    ]
    assert told(begun, refused)[1] == "- broker-1: it could not be done: it is down"


def look(subject: str, leader: int | None, isr: list[int]) -> Row:
    after: dict[str, Any] = {"leader": leader, "isr": isr, "replicas": [1, 2, 3]}
    return Row(1, "harness", 1, Kind.OBSERVED, subject, after=after)


def status(elapsed_s: float, acked: int, phase: str = "breaking", *looks: Row) -> Status:
    standing = [(Kill(target="1"), "broker-1")]
    return Status(phase, elapsed_s, {"acked": acked}, {row.subject: row for row in looks}, standing)


def test_a_status_names_the_partitions_that_are_not_whole() -> None:
    whole = status(30.0, 9_000, "breaking", look("orders-0", 1, [1, 2, 3]))
    assert in_short(whole, 300.0) == (
        "breaking, 30 s: 300 acks/s, 9,000 acked, 0 refused, 0 unknown; 1 fault; "
        "1 partitions, all in sync"
    )
    hurt = status(30.0, 0, "breaking", look("orders-0", 1, [1]), look("orders-1", None, [2, 1, 3]))
    assert in_short(hurt, 0).endswith("in sync are only orders-0 [1]; nobody leads orders-1")


def test_a_line_of_all_is_written_at_each_phase_and_now_and_then() -> None:
    console = Console(width=300, force_terminal=False)
    with console.capture() as captured:
        screen = PlainScreen(console)
        for elapsed_s in range(41):
            screen.show(status(elapsed_s, elapsed_s * 100))
        screen.show(status(41, 4_100, "healing"))
    lines = captured.get().splitlines()
    assert [line.split("  ")[1].split(":")[0] for line in lines] == [
        "breaking, 0 s",
        "breaking, 15 s",
        "breaking, 30 s",
        "healing, 41 s",
    ]
    assert "100 acks/s" in lines[1]
