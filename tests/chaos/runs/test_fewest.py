"""The search for the faults to blame, with runs that fail by a rule."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from logquake.chaos.checkers.verdicts import Ruling, Verdict
from logquake.chaos.faults.processes import Kill
from logquake.chaos.runs.fewest import Fewest, Play, Sought, sought_in
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judgement import RunJudgement
from logquake.chaos.scenarios.scenario import Scenario
from logquake.chaos.schedules.schedule import Planned, Schedule

SCHEDULE = tuple(
    Planned(at=10.0 * each, lasting=5, fault=Kill(target=str(each))) for each in range(8)
)
SCENARIO = Scenario(name="storm", title="", explanation="", schedule=SCHEDULE)


def broken(*invariants: str) -> RunJudgement:
    rulings = tuple(
        Ruling(number, name, Verdict.BROKEN) for number, name in enumerate(invariants, 1)
    )
    return RunJudgement(rulings, unexpected=tuple(f"{name} is broken" for name in invariants))


class Runs:
    """What was run; it breaks by the kills of these brokers together."""

    def __init__(self, guilty: Collection[str], invariant: str = "durable") -> None:
        self._guilty = set(guilty)
        self._invariant = invariant
        self.schedules: list[Schedule] = []

    def play(self, scenario: Scenario, folder: RunFolder, _number: int) -> RunJudgement:
        (folder.cluster.root / "broker-1").mkdir(parents=True)
        self.schedules.append(scenario.schedule or ())
        fails = self._guilty <= set(targets(self.schedules[-1]))
        return broken(self._invariant) if fails else RunJudgement(())


def targets(schedule: Schedule) -> list[str]:
    return [planned.fault.target for planned in schedule if isinstance(planned.fault, Kill)]


def search(root: Path, play: Play, sought: Sought, tries: int = 1) -> Fewest:
    return Fewest(SCENARIO, sought, root, tries, play)


def test_what_is_left_are_the_faults_to_blame_without_pauses(tmp_path: Path) -> None:
    runs = Runs({"2", "5"})
    found = search(tmp_path, runs.play, Sought(frozenset({"durable"})))
    assert found.search()
    assert targets(found.left) == ["2", "5"]
    assert [planned.at for planned in found.left] == [2, 9]
    assert runs.schedules[0] == SCHEDULE
    assert found.folder is not None
    kept = [each.parent.parent for each in tmp_path.glob("run-*/cluster/broker-1")]
    assert kept == [found.folder.root]


def test_suspects_are_tried_before_all(tmp_path: Path) -> None:
    runs = Runs({"5"})
    suspects = SCHEDULE[4:7]
    found = search(tmp_path, runs.play, Sought(frozenset({"durable"}), suspects))
    assert found.search()
    assert targets(runs.schedules[0]) == ["4", "5", "6"]
    assert targets(found.left) == ["5"]
    assert max(map(len, runs.schedules)) == len(suspects)


def test_suspects_that_are_innocent_are_let_go(tmp_path: Path) -> None:
    found = search(tmp_path, Runs({"0"}).play, Sought(frozenset({"durable"}), SCHEDULE[4:7]))
    assert found.search()
    assert targets(found.left) == ["0"]


def test_another_failure_is_another_story(tmp_path: Path) -> None:
    runs = Runs({"1"}, invariant="polls")
    assert not search(tmp_path, runs.play, Sought(frozenset({"durable"})), tries=2).search()
    assert len(runs.schedules) == 2


def test_what_is_broken_without_any_fault_is_seen(tmp_path: Path) -> None:
    found = search(tmp_path, Runs(()).play, Sought())
    assert found.search()
    assert found.left == ()


def test_the_fewest_so_far_are_known_when_it_is_ended(tmp_path: Path) -> None:
    runs = Runs({"6"})

    def play(scenario: Scenario, folder: RunFolder, number: int) -> RunJudgement:
        if number == 5:
            raise KeyboardInterrupt
        return runs.play(scenario, folder, number)

    found = search(tmp_path, play, Sought())
    with pytest.raises(KeyboardInterrupt):
        found.search()
    assert targets(found.left) == ["4", "5", "6", "7"]


def test_a_run_that_was_not_judged_names_no_suspects(tmp_path: Path) -> None:
    assert sought_in(RunFolder(tmp_path), SCHEDULE) == Sought()
