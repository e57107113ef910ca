"""Commands of others, run to their end."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.suites.suite import SuiteError


def run_to_end(
    command: Sequence[str], *, timeout_s: float, cwd: Path, env: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Its status and what it printed. Raises SuiteError if it does not end in time."""
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SuiteError(f"{command[0]} did not end in {timeout_s:g} s:\n{error.output}") from None
    return done.returncode, done.stdout


def must_succeed(command: Sequence[str], *, timeout_s: float, cwd: Path) -> str:
    """What it printed. Raises SuiteError unless it ends with 0."""
    status, printed = run_to_end(command, timeout_s=timeout_s, cwd=cwd)
    if status:
        raise SuiteError(f"{' '.join(command)} ended with {status}:\n{printed}")
    return printed
