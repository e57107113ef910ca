"""Golden scripts: "> command" lines, each followed by all that came of it.

A folder of scripts (`tests/golden/controller`, `tests/golden/partition`) has a world that they
play in and a Player whose ``do_`` methods are the commands: groups and transactions get one each.
UPDATE_GOLDEN=1 writes the outputs anew; read the difference before it is committed.
"""

from __future__ import annotations

import os
import shlex
from abc import ABC, abstractmethod
from pathlib import Path


class Chronicle:
    """What happened in a world, one line each, in order."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def log(self, line: str) -> None:
        self._lines.append(line)

    def take_log(self) -> list[str]:
        lines, self._lines = self._lines, []
        return lines


class Player(ABC):
    """``> start 1 rack=a`` calls do_start("1", rack="a"); dashes in its name are underscores."""

    @abstractmethod
    def outcome(self) -> list[str]:
        """Let happen what the last command brings about; the lines of it."""

    def play(self, script: str) -> str:
        """The script with what came of each command; comments stay."""
        played: list[str] = []
        for line in script.splitlines():
            if line.startswith("#") or (not line and not played):
                played.append(line)
            elif line.startswith("> "):
                self._command(line[2:])
                played += [line, *self.outcome(), ""]
        return "\n".join(line.rstrip() for line in played).rstrip() + "\n"

    def _command(self, text: str) -> None:
        name, *arguments = shlex.split(text)
        positional = [each for each in arguments if "=" not in each]
        options = dict(each.split("=", 1) for each in arguments if "=" in each)
        getattr(self, f"do_{name.replace('-', '_')}")(*positional, **options)


def scripts_beside(test_file: str) -> list[Path]:
    return sorted(Path(test_file).parent.glob("*.txt"))


def check_script(script: Path, player: Player) -> None:
    """Play it: it has to come out as it is written."""
    text = script.read_text()
    played = player.play(text)
    if os.environ.get("UPDATE_GOLDEN"):
        script.write_text(played)
    else:
        assert played == text
