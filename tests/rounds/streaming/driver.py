"""A query's driver as whoever watches over it has it: started again however it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self

import psutil

from tests.rounds.streaming.query import QueryPlan, Told, note_end, told

_ENDS_WITHIN_S = 60.0


class Driver:
    """Of one query; safe to use from several threads. None of it outlives the block."""

    def __init__(self, plan: QueryPlan) -> None:
        self.plan = plan
        self.starts = 0
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_killed = False

    def __enter__(self) -> Self:
        with self._lock:
            self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    def told(self) -> Told:
        return told(self.plan)

    def ends(self) -> Counter[str]:
        """Of the query, or of the driver itself, unless it was killed: why, and how often."""
        try:
            return Counter(self.plan.ends.read_text().splitlines())
        except FileNotFoundError:
            return Counter()

    def kill(self) -> None:
        """kill -9 of it and of its JVM; what they had started has to see to its own end."""
        with self._lock:
            assert self._process is not None
            self._is_killed = True
            jvms = _jvms_of(self._process.pid)
            self._process.kill()
            for jvm in jvms:
                with suppress(psutil.NoSuchProcess):
                    jvm.kill()
            self._process.wait(_ENDS_WITHIN_S)

    def watch(self) -> bool:
        """Whether it has taken everything; where it ended otherwise it is started again."""
        with self._lock:
            assert self._process is not None
            status = self._process.poll()
            if status is None or status == 0:
                return status == 0
            if not self._is_killed:
                note_end(self.plan, self._log.read_text(errors="replace"))
            self._start()
            return False

    def _start(self) -> None:
        self.starts += 1
        self._is_killed = False
        command = [sys.executable, "-m", "tests.rounds.streaming.query", self.plan.to_json()]
        # Whoever is killed takes no folder along: they all go with this one.
        environment = {**os.environ, "TMPDIR": self.plan.folder}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)

    @property
    def _log(self) -> Path:
        return Path(self.plan.folder, f"driver-{self.starts}.log")


def _jvms_of(pid: int) -> list[psutil.Process]:
    try:
        return [each for each in psutil.Process(pid).children() if "java" in each.name()]
    except psutil.NoSuchProcess:
        return []
