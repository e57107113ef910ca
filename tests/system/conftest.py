"""The command line as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.leaks import leaks_are_its_own, threads_end_with_their_module
from tests.system.wheels import build
from tests.waiting import PATIENCE_S

__all__ = ["leaks_are_its_own", "threads_end_with_their_module"]

PROGRAM = str(Path(sys.executable).parent / "logquake")


@dataclass(frozen=True)
class CommandLine:
    """``logquake`` with a home of its own; nothing of the user's is touched.

    ``started`` ends what start() began.
    """

    home: Path
    started: ExitStack

    def environment(self, **variables: str) -> dict[str, str]:
        return {**os.environ, "LOGQUAKE_HOME": str(self.home), **variables}

    def run(
        self, *arguments: str, typed: str | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [PROGRAM, *arguments],
            input=typed,
            env=self.environment(**variables),
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE_S,
            check=False,
        )

    def ok(self, *arguments: str, typed: str | None = None) -> str:
        """Standard output of a command that succeeds; ``typed`` is its standard input."""
        result = self.run(*arguments, typed=typed)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def refused(self, *arguments: str, **variables: str) -> str:
        """The line of a command that fails for a reason of the surroundings."""
        result = self.run(*arguments, **variables)
        assert result.returncode == 2, result.stdout + result.stderr
        return result.stderr.splitlines()[-1]

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """A command that stays; its output is text, standard error with it."""
        process = subprocess.Popen(
            [PROGRAM, *arguments],
            env=self.environment(**variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.started.enter_context(process)
        self.started.callback(process.kill)
        return process


@pytest.fixture
def logquake(tmp_path: Path) -> Iterator[CommandLine]:
    with ExitStack() as started:
        yield CommandLine(tmp_path / "home", started)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("wheel"))
