"""Kafka's own log, one at a time, in a process that is told what to do (java/LogDriver.java)."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("java") / "LogDriver.java"
OPTIONS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class RefusedError(Exception):
    """The name of Kafka's exception, and what it says."""


class KafkaLog:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def tell(self, *command: object) -> str:
        """One command of LogDriver's; its answer. Raises RefusedError."""
        commands, answers = self._process.stdin, self._process.stdout
        assert commands is not None
        assert answers is not None
        commands.write(" ".join(map(str, command)) + "\n")
        commands.flush()
        answer = answers.readline()
        assert answer, "Kafka's log has ended"
        if answer.startswith("! "):
            raise RefusedError(answer[2:].strip())
        return answer.strip()


@contextmanager
def kafka_log(folder: Path) -> Iterator[KafkaLog]:
    """Skips where there is no java, or LOGQUAKE_KAFKA_LIBS does not name Kafka's jars.

    What Kafka logs goes to a file in the folder.
    """
    libs, java = os.environ.get("LOGQUAKE_KAFKA_LIBS"), shutil.which("java")
    if not libs or java is None:
        pytest.skip("no java, or LOGQUAKE_KAFKA_LIBS does not name a folder with Kafka's jars")
    command = [java, *OPTIONS, "-cp", f"{libs}/*", str(SOURCE)]
    with (folder / "kafka.log").open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
    try:
        yield KafkaLog(process)
    finally:
        process.kill()
        process.communicate()
