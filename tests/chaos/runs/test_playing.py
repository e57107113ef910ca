"""Schedules and steps, on a conductor that only notes, and a wait that only counts time."""

from __future__ import annotations

from typing import cast

import pytest

from logquake.chaos.faults.aiming import subject_of
from logquake.chaos.faults.performing import Performed
from logquake.chaos.faults.processes import Kill
from logquake.chaos.faults.value import FaultValue
from logquake.chaos.runs.conditions import Waiting
from logquake.chaos.runs.conductor import Conductor, Standing
from logquake.chaos.runs.playing import play_schedule, play_steps
from logquake.chaos.scenarios.files import read_scenario
from logquake.chaos.scenarios.steps import Condition
from logquake.chaos.schedules.schedule import Planned
from logquake.cluster.errors import ClusterError


class Noting:
    """A conductor and a wait at once."""

    def __init__(self, refuses: str = "") -> None:
        self.done: list[str] = []
        self._refuses = refuses

    def begin(self, fault: FaultValue, why: str | None = None) -> Standing | None:  # noqa: ARG002
        self.done.append(f"begin {fault}")
        if str(fault) == self._refuses:
            return None
        return Standing(fault, subject_of(fault), 1, Performed(str(fault), lambda: None))

    def heal(self, standing: Standing) -> None:
        self.done.append(f"heal {standing.fault}")

    def heal_all(self) -> list[Standing]:
        self.done.append("heal all")
        return []

    def rest(self, seconds: float) -> None: ...

    def watch(self, condition: Condition) -> str | None:
        if condition.rows is None:
            return None
        self.done.append(f"watch for {condition}")
        return "a watch that was begun before"

    def until(self, condition: Condition, within_s: float, watch: object = None) -> None:
        since = "" if watch is None else f", by {watch}"
        self.done.append(f"until {condition} within {within_s:g}{since}")

    def until_met(self, fault: Performed, times: int, within_s: float) -> None:
        self.done.append(f"until {fault.subject} met {times} within {within_s:g}")


def planned(at: float, lasting: float, target: str) -> Planned:
    return Planned(at=at, lasting=lasting, fault=Kill(target=target))


def played(steps: str, noting: Noting) -> list[str]:
    scenario = read_scenario(f"name: x\ntitle: x\nsteps:\n{steps}", "here")
    play_steps(
        scenario.steps or (),
        cast(Conductor, noting),
        cast(Waiting, noting),
        lambda workload: noting.done.append(f"start {workload.name}"),
        lambda text: noting.done.append(f"say {text}"),
    )
    return noting.done


def test_every_fault_of_a_schedule_is_begun_and_healed() -> None:
    noting = Noting()
    schedule = (planned(0, 0.02, "1"), planned(0.01, 0.02, "2"))
    play_schedule(schedule, cast(Conductor, noting), cast(Waiting, noting))
    assert sorted(noting.done) == ["begin kill 1", "begin kill 2", "heal kill 1", "heal kill 2"]


def test_a_fault_that_could_not_be_done_is_not_healed() -> None:
    noting = Noting(refuses="kill 1")
    schedule = (planned(0, 0.01, "1"), planned(0, 0.01, "2"))
    play_schedule(schedule, cast(Conductor, noting), cast(Waiting, noting))
    assert sorted(noting.done) == ["begin kill 1", "begin kill 2", "heal kill 2"]


def test_steps_come_one_after_the_other() -> None:
    steps = """
- {say: now, begin: {kind: kill, target: 1}, as: dead}
- {await: {isr: orders/0, size: 2}, within: 5s}
- {start: {name: late, kind: reader}}
- {heal: dead}
- {heal: all}
"""
    assert played(steps, Noting()) == [
        "say now",
        "begin kill 1",
        "until isr orders/0 size 2 within 5",
        "start late",
        "heal kill 1",
        "heal all",
    ]


def test_a_step_waits_until_a_fault_of_requests_has_met_one() -> None:
    steps = """
- {await: {high_watermark: orders/0, reaches: 812}, within: 5s}
- {begin: {kind: inject, api: UpdateMetadata, hold: true, source: controller}, as: held}
- {await: {met: held, times: 2}, within: 5s}
"""
    begun, met = played(steps, Noting())[1:]
    assert begun.startswith("begin inject")
    assert met == begun.removeprefix("begin ").join(("until ", " met 2 within 5"))


def test_a_step_waits_for_another_controller_than_the_one_that_a_fault_was_done_to() -> None:
    steps = """
- {begin: {kind: pause, target: broker-2}, as: asleep}
- {await: {controller: true, other_than: asleep}, within: 5s}
"""
    assert played(steps, Noting())[1:] == ["until controller True not_broker 2 within 5"]


@pytest.mark.parametrize(
    ("step", "complaint"),
    [
        ("{await: {met: nothing}}", "nothing was not begun"),
        ("{await: {controller: true, other_than: all}}", "all was not begun"),
        ("{await: {high_watermark: orders/0}}", "what it reaches"),
        ("{await: {reaches: 5}}", "say one of rows, isr, leader, controller, zookeepers"),
    ],
)
def test_what_can_not_be_waited_for_is_told(step: str, complaint: str) -> None:
    with pytest.raises(ClusterError, match=complaint):
        read_scenario(f"name: x\ntitle: x\nsteps:\n- {step}", "here")


def test_what_a_fault_does_is_counted_from_before_it() -> None:
    steps = """
- {begin: {kind: kill, target: 1}}
- {await: {rows: {what: acked}, times: 9}, within: 5s}
- {await: {rows: {what: refused}}, within: 5s}
"""
    assert played(steps, Noting()) == [
        "watch for [acked] times 9",
        "begin kill 1",
        "until [acked] times 9 within 5, by a watch that was begun before",
        "until [refused] within 5",
    ]


def test_a_step_that_cannot_be_done_ends_the_scenario() -> None:
    with pytest.raises(ClusterError, match="kill 1 could not be done"):
        played("- {begin: {kind: kill, target: 1}}", Noting(refuses="kill 1"))
