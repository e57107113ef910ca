"""Programs of Kafka's releases from before 0.11, each from a folder with its jars."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import PATIENCE_S


class OldReleases:
    def __init__(self, java: str, libs: Path) -> None:
        self._java = java
        self._libs = libs

    def run(self, release: str, main_class: str, *arguments: str, stdin: str = "") -> str:
        """The standard output of a program that ends and succeeds."""
        done = subprocess.run(
            self._command(release, main_class, *arguments),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def running(
        self, said: Path, release: str, main_class: str, *arguments: str
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Its standard output goes to the file ``said``. It ends when its standard input does."""
        with said.open("wb") as out, said.with_suffix(".err").open("wb") as err:
            command = self._command(release, main_class, *arguments)
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=err)
        try:
            yield process
            process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
            process.communicate()

    def _command(self, release: str, main_class: str, *arguments: str) -> list[str]:
        few = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
        return [self._java, *few, "-cp", f"{self._libs / release}/*", main_class, *arguments]
