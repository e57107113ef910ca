"""The whole tree of commands comes at once, and its help says what a seed is worth."""

from __future__ import annotations

import subprocess
import sys

from typer.testing import CliRunner

import logquake.chaos.cli.app  # noqa: F401 - it adds its commands to those of the launcher
from logquake.cluster.cli.app import app

HEAVY = ("pydantic", "yaml", "confluent_kafka", "rich", "numpy", "pyarrow", "kazoo")


def test_help_loads_nothing_that_only_runs_need() -> None:
    program = (
        "import sys, logquake.chaos.cli.app\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "[]"


def test_the_launchers_commands_and_the_harnesss_are_one_tree() -> None:
    shown = CliRunner().invoke(app, ["--help"]).output
    assert "chaos" in shown
    assert "status" in shown


def test_help_says_what_a_seed_fixes() -> None:
    said = " ".join(CliRunner().invoke(app, ["chaos", "run", "--help"]).output.split())
    assert "A seed fixes the schedule" in said
    assert "It does not fix what processes do" in said
    assert "tests/sim has exact replay" in said
