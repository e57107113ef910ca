"""Spark's count of the topic's lines, in a process of its own: JVM and all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Self

from logquake.chaos.demo.corpus import Corpus
from logquake.chaos.workloads import commands

_TIMEOUT_S = 300.0
_COMPLAINT_CHARACTERS = 500


class SparkCount:
    """It begins at once, and is ended with the block if it still counts.

    What it prints and what it puts aside goes into ``folder``. The kernel ends it when the thread
    that began it is no more (`cluster/processes/lifeline.py`), and its JVM goes with its input.
    """

    def __init__(self, bootstrap_servers: str, topic: str, folder: Path) -> None:
        self._counts = folder / "spark.json"
        self._complaint = folder / "spark.printed"
        count = [sys.executable, "-m", "logquake.pipeline", "count", bootstrap_servers, topic]
        with self._counts.open("wb") as counts, self._complaint.open("wb") as complaint:
            self._process = subprocess.Popen(
                [sys.executable, "-m", commands.__name__, str(os.getpid()), *count],
                env={**os.environ, "TMPDIR": str(folder), "SPARK_LOCAL_DIRS": str(folder)},
                stdout=counts,
                stderr=complaint,
                # Of its own: its JVM is a grandchild, and must not outlive the block either.
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def differences(self, corpus: Corpus) -> list[str]:
        """The files whose count differs, or in a line what kept it from counting."""
        try:
            status = self._process.wait(_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return [f"Spark has not answered in {_TIMEOUT_S:.0f} s"]
        if status != 0:
            complaint = self._complaint.read_text(errors="replace").strip()
            return [f"Spark failed: {complaint[-_COMPLAINT_CHARACTERS:]}"]
        counted: dict[str, int] = json.loads(self._counts.read_bytes())
        expected = corpus.lines_per_file()
        names = sorted(expected.keys() | counted.keys())
        return [name for name in names if expected.get(name) != counted.get(name)]
