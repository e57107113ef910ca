"""Workloads as processes of their own: started, paused, killed, made zombies, and ended.

A workload of ours writes a history. Any other program is told by its environment where the cluster
is, and what it does is seen from outside alone.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from logquake.chaos.history.reader import read_file
from logquake.chaos.history.rows import Row
from logquake.chaos.workloads.plan import Plan

END_S = 180.0  # longer than the longest wait for an outcome
SAY_WHERE = signal.SIGQUIT  # at which a workload prints where it stands, as any JVM does
_LAST_WORDS_S = 2.0
_TOLD_CHARACTERS = 2_000


class WorkloadFailed(Exception):  # noqa: N818 - the name says what happened
    """It ended by itself with an error, or did not end; the message has what it printed."""


class Program:
    """What it prints goes to ``folder/name.printed``.

    At the end of a ``with`` block it is killed if it still runs, and the kernel kills it when the
    thread that started it is no more (`cluster/processes/lifeline.py`). ``ended_well`` are the
    statuses with which it may end.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        command: Sequence[str],
        environment: Mapping[str, str],
        ended_well: frozenset[int],
    ) -> None:
        self.name = name
        self._ended_well = ended_well
        self._printed = folder / f"{name}.printed"
        with self._printed.open("wb") as printed:
            self._process = subprocess.Popen(
                command,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for the harness, which ends its workloads
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_running():
            self.kill()

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_running(self) -> bool:
        return self._process.poll() is None

    def pause(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    @contextmanager
    def paused(self) -> Iterator[None]:
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def kill(self) -> None:
        """At any byte; it writes no more."""
        self._process.kill()
        self._process.wait()

    def ask_to_end(self) -> None:
        self._process.send_signal(signal.SIGTERM)

    def end(self, timeout_s: float = END_S) -> None:
        """Ask, and wait for its last row. Raises WorkloadFailed."""
        self.ask_to_end()
        self.wait(timeout_s)

    def wait(self, timeout_s: float = END_S) -> None:
        """Until it ends by itself, or because it was asked. Raises WorkloadFailed."""
        try:
            status = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._give_up()
            what = f"{self.name} has not ended after {timeout_s:g} s"
            raise WorkloadFailed(f"{what}: {self._last_words()}") from None
        if status not in self._ended_well:
            raise WorkloadFailed(f"{self.name} ended with {status}: {self._last_words()}")

    def _give_up(self) -> None:
        self.kill()

    def _last_words(self) -> str:
        return self._printed.read_text(errors="replace").strip()[-_TOLD_CHARACTERS:]


class WorkloadProcess(Program):
    """``name`` is its name in its history, which is ``folder/name.jsonl``.

    A zombie is one that is paused while another one with its transactional id or instance id goes
    on, and then resumed.
    """

    def __init__(self, plan: Plan, name: str, folder: Path) -> None:
        self.plan = plan
        self.history = folder / f"{name}.jsonl"
        told = (f"--history={self.history}", f"--process={name}", f"--die-with={os.getpid()}")
        command = [sys.executable, "-m", __package__, *plan.arguments(), *told]
        super().__init__(name, folder, command, {}, ended_well=frozenset({0}))

    def _give_up(self) -> None:
        """Its last words are where it stands."""
        self._process.send_signal(SAY_WHERE)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_WORDS_S)
        super()._give_up()

    def rows(self) -> Iterator[Row]:
        """What it has told so far."""
        if self.history.exists():
            yield from read_file(self.history)


class CommandProcess(Program):
    """A command line, as a shell would split it; its environment has BOOTSTRAP_SERVERS.

    SIGTERM asks it to end: that it ends by it is no failure.
    """

    def __init__(self, command: str, name: str, folder: Path, bootstrap: str) -> None:
        begun = [sys.executable, "-m", f"{__package__}.commands", str(os.getpid())]
        super().__init__(
            name,
            folder,
            [*begun, *shlex.split(command)],
            {"BOOTSTRAP_SERVERS": bootstrap},
            ended_well=frozenset({0, -signal.SIGTERM, 128 + signal.SIGTERM}),
        )


def end_all(programs: Sequence[Program], timeout_s: float = END_S) -> list[str]:
    """Let them come to their ends at the same time; what went wrong, in words."""
    deadline = time.monotonic() + timeout_s
    for program in programs:
        program.ask_to_end()
    failed = []
    for program in programs:
        try:
            program.wait(max(0.1, deadline - time.monotonic()))
        except WorkloadFailed as error:
            failed.append(str(error))
    return failed
