"""Bugs that the environment asks for: brokers have them and say so, and a hunt finds one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from logquake.chaos.checkers.verdicts import Judgement
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judgement import ExitStatus, RunJudgement
from logquake.cluster.api import Cluster
from tests.compat.sparks import SPARKS_PATIENCE_S

LOGQUAKE = (sys.executable, "-c", "from logquake.chaos.cli import main; main()")
_HUNT_WITHIN_S = 400


def logquake(*arguments: str, bugs: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*LOGQUAKE, *arguments],
        capture_output=True,
        text=True,
        timeout=_HUNT_WITHIN_S,
        check=False,
        env={**os.environ, "LOGQUAKE_PLANTED_BUG": bugs},
    )


def test_a_broker_with_a_bug_says_so_in_its_log_and_its_journal_and_status(tmp_path: Path) -> None:
    with Cluster(1, data_dir=tmp_path / "c", planted_bugs=["ack-before-isr"]) as kafka:
        shown = logquake("status", "--data-dir", str(tmp_path / "c"))
        assert kafka.state().planted_bugs == ("ack-before-isr",)
        journal = (kafka.layout.events / "broker-1.jsonl").read_text()
        log = kafka.layout.log_of("broker-1").read_text()
    assert "PLANTED BUGS: ack-before-isr" in shown.stdout
    assert next(map(json.loads, journal.splitlines()))["what"] == "bug-planted"
    assert "planted bug ack-before-isr" in log


def test_a_bug_that_there_is_not_is_told_in_a_line(tmp_path: Path) -> None:
    properties = tmp_path / "server.properties"
    properties.write_text("broker.id=1\nzookeeper.connect=127.0.0.1:1\n")
    for arguments in (("up", "--data-dir", str(tmp_path / "c")), ("broker", str(properties))):
        ended = logquake(*arguments, bugs="ack-befor-isr")
        assert ended.returncode == ExitStatus.USAGE
        assert ended.stderr.splitlines()[-1:] == [
            "logquake: there is no bug 'ack-befor-isr' to plant: did you mean ack-before-isr?"
        ]
    assert not (tmp_path / "c").exists()


@pytest.mark.slow
def test_a_hunt_finds_a_bug_and_names_its_cause_and_spark_judges_the_run_alike(
    tmp_path: Path,
) -> None:
    """Its budget is for a machine that does nothing else, as a test's is not."""
    ended = logquake("chaos", "hunt", "min-isr-ignored", "-o", "json", "--report", str(tmp_path))
    (found,) = json.loads(ended.stdout)
    assert found["violation"]["invariant"] == "min ISR"
    assert "were acked while its ISR was [1]" in found["violation"]["text"]
    folder = RunFolder(tmp_path / "min-isr-ignored")
    here = RunJudgement.from_json(json.loads(folder.verdict.read_text()))
    page = tmp_path / "audit.html"
    by_spark = audit(folder.root, page)
    assert by_spark.returncode == 1, by_spark.stderr
    said = str(Judgement(here.rulings, here.notes)).splitlines()
    assert sorted(by_spark.stdout.splitlines()) == sorted(said)
    assert "rows of min-isr-ignored: broken" in by_spark.stderr.splitlines()[-1]
    assert "min ISR" in page.read_text()


def audit(folder: Path, page: Path) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("pyspark", reason="the extra logquake[spark] is not installed")
    return subprocess.run(
        [sys.executable, "-m", "logquake.pipeline", "audit", str(folder), "--report", str(page)],
        capture_output=True,
        text=True,
        timeout=SPARKS_PATIENCE_S,
        check=False,
    )
