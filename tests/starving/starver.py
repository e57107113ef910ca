"""``with starving(pid, Starvation(seed=7)):`` a tree of processes on a machine that is too slow.

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

from tests.starving.plan import Starvation, Suffered

ROOT = Path(__file__).parents[2]
END_TIMEOUT_S = 30.0


@contextmanager
def starving(root_pid: int, plan: Starvation) -> Iterator[Starver]:
    command = [sys.executable, "-m", "tests.starving.guard"]
    guard = subprocess.Popen(
        [*command, str(root_pid), json.dumps(asdict(plan))],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    starver = Starver(guard)
    starver.await_ok()
    try:
        yield starver
    finally:
        said, _ = guard.communicate(timeout=END_TIMEOUT_S)
        starver.suffered = Suffered(**json.loads(said.splitlines()[-1]))


class Starver:
    """Talks with the guard; ``suffered`` is known once the block has ended."""

    def __init__(self, guard: subprocess.Popen[str]) -> None:
        self._guard = guard
        self.guard_pid = guard.pid
        self.suffered: Suffered | None = None

    @contextmanager
    def sparing(self, pid: int) -> Iterator[None]:
        """Leave a process alone, for one who pauses it himself: the guard must not continue it."""
        self._ask(f"spare {pid}")
        try:
            yield
        finally:
            self._ask(f"starve {pid}")

    def await_ok(self) -> None:
        stdout = self._guard.stdout
        said = stdout.readline() if stdout else ""
        if said != "ok\n":
            raise RuntimeError(f"the guard said {said!r}")

    def _ask(self, line: str) -> None:
        if self._guard.stdin is None:
            raise RuntimeError("the guard has no standard input")
        self._guard.stdin.write(f"{line}\n")
        self._guard.stdin.flush()
        self.await_ok()
