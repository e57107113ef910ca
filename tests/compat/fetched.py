"""Programs in other languages, with what they depend on fetched by their own tools."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

RUN_S = 400
NPM_INSTALL = ("npm", "install", "--no-audit", "--no-fund")


def run_in(
    folder: Path, *command: str, environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """The exit status, and what was printed."""
    ended = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=RUN_S,
        check=False,
    )
    return ended.returncode, ended.stdout


def fetched(source: Path, folder: Path, *command: str) -> Path:
    """A copy with what it depends on; skips where that can't be had."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    copy = Path(shutil.copytree(source, folder / source.name))
    status, printed = run_in(copy, *command)
    if status:
        pytest.skip(f"{' '.join(command)} fetches nothing: {printed.splitlines()[-1:]}")
    return copy
