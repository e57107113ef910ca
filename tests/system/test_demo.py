"""The demo, ended before its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import no_process_left_behind, nothing_left_behind
from tests.waiting import PATIENCE_S

LINES = 2_000
SPARK = "Waiting for Spark"


@contextmanager
def demo_at(step: str, folder: Path, temporary: Path) -> Iterator[subprocess.Popen[str]]:
    """A demo that has come to this step."""
    lines = folder / "lines"
    lines.write_text("".join(f"line {number}\n" for number in range(LINES)))
    with subprocess.Popen(
        [sys.executable, "-m", "logquake.chaos.demo", str(lines)],
        env={**os.environ, "TMPDIR": str(temporary), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as demo:
        try:
            assert demo.stdout is not None
            said = next((line for line in demo.stdout if line.startswith(step)), None)
            assert said, f"it ended before {step}"
            yield demo
            demo.stdout.read()
            demo.wait(PATIENCE_S)
        finally:
            demo.kill()


@pytest.mark.parametrize(
    ("step", "number"), [("Starting ZooKeeper", signal.SIGTERM), (SPARK, signal.SIGINT)]
)
def test_a_demo_that_is_asked_to_end_leaves_nothing(
    tmp_path: Path, step: str, number: signal.Signals
) -> None:
    temporary = tmp_path / "temporary"
    with nothing_left_behind(temporary):
        with demo_at(step, tmp_path, temporary) as demo:
            demo.send_signal(number)
        assert demo.returncode == 128 + number


def test_a_demo_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    """The folder stays: there is nobody left to remove it."""
    with no_process_left_behind(), demo_at(SPARK, tmp_path, tmp_path) as demo:
        demo.kill()
