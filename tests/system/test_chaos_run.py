"""Scenarios on real clusters: what is predicted is seen, and a run can be read afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from logquake.chaos.history.reader import read_history
from logquake.chaos.history.rows import Kind
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judgement import ExitStatus
from logquake.chaos.scenarios.files import find_scenario
from tests.everything import IS_ASKED_FOR

LOGQUAKE = (sys.executable, "-c", "from logquake.chaos.cli import main; main()")
_RUN_WITHIN_S = 400

OTHERS = ("acks-all", "no-quorum") if IS_ASKED_FOR else ()


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*LOGQUAKE, "chaos", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=_RUN_WITHIN_S,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["acks-1", "late-end", *OTHERS])
def test_a_scenario_shows_what_it_says(name: str, tmp_path: Path) -> None:
    ended = run("run", name, "--seed", "7", "--report", str(tmp_path / "run"))
    assert ended.returncode == ExitStatus.HELD, ended.stdout + ended.stderr
    folder = RunFolder(tmp_path / "run")
    begun = [row for row in read_history(folder.row_files()) if row.what == Kind.FAULT_BEGUN]
    steps = find_scenario(name).steps or ()
    assert len(begun) == sum("begin" in step.model_dump() for step in steps)
    assert "acked" in folder.verdict.read_text()


def test_bad_usage_is_told_before_anything_is_started(tmp_path: Path) -> None:
    for arguments, said in (
        (("run", "nothing"), "'nothing' is no scenario and no file"),
        (("run", "acks-1", "--duration", "5s"), "acks-1 is no storm"),
        (("run", "power-cut", "--kafka"), "power-cut cannot be run yet: nothing does power-loss"),
        (("run", "acks-1", "--client", "perl"), "'perl' is not one of"),
        (("run", "acks-1", "--client", "java"), "where is Apache Kafka?"),
        (("replay", str(tmp_path)), "no folder of a run"),
        (("shrink", str(tmp_path)), "no folder of a run"),
    ):
        ended = run(*arguments, LOGQUAKE_KAFKA_LIBS="")
        assert ended.returncode == ExitStatus.USAGE
        assert said in ended.stderr
