"""``with Starver(pid, Starvation(seed=7)):`` a tree of processes on a machine that is too slow.

Busy loops take the processors, and every process of the tree is stopped (SIGSTOP) and continued
in slices, each by a stream of its own. The tree of the owner itself is whatever it starts. No root
is needed. At the end of the block, or when the
owner dies however, or when the plan's time is up, all go on and the busy loops are gone.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.starving.plan import Starvation, Suffered

ROOT = Path(__file__).parents[2]
END_TIMEOUT_S = 30.0


class Starver:
    """``suffered`` is known once the block has ended."""

    def __init__(self, root_pid: int, plan: Starvation) -> None:
        self._root_pid = root_pid
        self._plan = plan
        self._guard: subprocess.Popen[str] | None = None
        self.suffered: Suffered | None = None

    def __enter__(self) -> Self:
        self._guard = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.starving.guard",
                str(self._root_pid),
                json.dumps(asdict(self._plan)),
            ],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._await_ok()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        guard = self._running()
        said, _ = guard.communicate(timeout=END_TIMEOUT_S)
        self.suffered = Suffered(**json.loads(said.splitlines()[-1]))

    @contextmanager
    def sparing(self, pid: int) -> Iterator[None]:
        """Leave a process alone, for one who pauses it himself: the guard must not continue it."""
        self._ask(f"spare {pid}")
        try:
            yield
        finally:
            self._ask(f"starve {pid}")

    def _ask(self, line: str) -> None:
        guard = self._running()
        if guard.stdin is None:
            raise RuntimeError("the guard has no standard input")
        guard.stdin.write(f"{line}\n")
        guard.stdin.flush()
        self._await_ok()

    def _await_ok(self) -> None:
        stdout = self._running().stdout
        said = stdout.readline() if stdout else ""
        if said != "ok\n":
            raise RuntimeError(f"the guard said {said!r}")

    def _running(self) -> subprocess.Popen[str]:
        if self._guard is None:
            raise RuntimeError("nobody starves yet")
        return self._guard
