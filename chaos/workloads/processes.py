"""Workloads as processes of their own: started, paused, killed, made zombies, and ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from logquake.chaos.history.reader import read_file
from logquake.chaos.history.rows import Row
from logquake.chaos.workloads.plan import Plan

END_S = 180.0  # longer than the longest wait for an outcome


class WorkloadFailed(Exception):  # noqa: N818 - the name says what happened
    """It ended by itself with an error, or did not end; the message has what it printed."""


class WorkloadProcess:
    """``name`` is its name in its history, which is ``folder/name.jsonl``.

    A zombie is one that is paused while another one with its transactional id or instance id goes
    on, and then resumed. At the end of a ``with`` block it is killed if it still runs, and the
    kernel kills it when the thread that started it is no more (`cluster/processes/lifeline.py`).
    """

    def __init__(self, plan: Plan, name: str, folder: Path) -> None:
        self.plan = plan
        self.name = name
        self.history = folder / f"{name}.jsonl"
        self._printed = folder / f"{name}.printed"
        command = [sys.executable, "-m", __package__, *plan.arguments()]
        with self._printed.open("wb") as printed:
            self._process = subprocess.Popen(
                [
                    *command,
                    f"--history={self.history}",
                    f"--process={name}",
                    f"--die-with={os.getpid()}",
                ],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for the harness, which ends its workloads
            )

    def __enter__(self) -> WorkloadProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_running():
            self.kill()

    @property
    def pid(self) -> int:
        return self._process.pid

    def rows(self) -> Iterator[Row]:
        """What it has told so far."""
        if self.history.exists():
            yield from read_file(self.history)

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
            self.kill()
            raise WorkloadFailed(f"{self.name} has not ended after {timeout_s:g} s") from None
        if status:
            printed = self._printed.read_text(errors="replace").strip()
            raise WorkloadFailed(f"{self.name} ended with {status}: {printed[-2000:]}")
