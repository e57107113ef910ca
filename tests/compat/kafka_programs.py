"""Kafka's own programs, run from its jars: tools that end, and a broker."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.waiting import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPILER = "com.sun.tools.javac.Main"  # of the JDK itself, with no launcher of its own

# Warnings and worse go to standard error, where a tool that works has nothing to say.
LOG4J = """\
log4j.rootLogger=WARN, stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.Target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%p %c %m%n
"""


def programs_in(variable: str, folder: Path) -> KafkaPrograms:
    """Of the jars in the folder that a variable names; what they write goes into ``folder``.

    Skips the test where there are none.
    """
    libs, java = os.environ.get(variable), shutil.which("java")
    if not libs:
        pytest.skip(f"{variable} does not name a folder with Kafka's jars")
    if java is None:
        pytest.skip("no java on the path")
    return KafkaPrograms(java, Path(libs), folder)


class KafkaPrograms:
    def __init__(self, java: str, libs: Path, folder: Path, classes: Path | None = None) -> None:
        """``classes`` has more than the jars do."""
        self.folder = folder
        self._libs = libs
        log4j = folder / "log4j.properties"
        log4j.write_text(LOG4J)
        places = [f"{libs}/*"] if classes is None else [str(classes), f"{libs}/*"]
        self._java = [
            java,
            "-Xmx640m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            f"-Dlog4j.configuration=file:{log4j}",
            "-cp",
            ":".join(places),
        ]

    def run(self, main_class: str, *arguments: str, said: str = "") -> str:
        """Standard output of a tool that succeeds, with nothing but ``said`` on standard error."""
        done = self.complete(main_class, *arguments)
        assert (done.returncode, done.stderr) == (0, said), done.stdout + done.stderr
        return done.stdout

    def need(self, jar: str) -> None:
        """Skips the test where it is not among the jars."""
        if not any(self._libs.glob(f"{jar}-*.jar")):
            pytest.skip(f"no {jar} in {self._libs}: tests/peers/pom.xml has it")

    def compiled(self, sources: Path) -> KafkaPrograms:
        """Programs of ours as well, from a folder of Java sources."""
        classes = self.folder / sources.name
        jars = ":".join(map(str, sorted(self._libs.glob("*.jar"))))
        files = map(str, sorted(sources.glob("*.java")))
        self.run(COMPILER, "-nowarn", "-cp", jars, "-d", str(classes), *files)
        return KafkaPrograms(self._java[0], self._libs, self.folder, classes)

    def complete(
        self, main_class: str, *arguments: str, timeout_s: float = PATIENCE_S
    ) -> subprocess.CompletedProcess[str]:
        """All that a tool leaves, in UTF-8 whatever the surroundings are."""
        return subprocess.run(
            self.command(main_class, *arguments),
            env=os.environ | {"LC_ALL": "C.UTF-8"},
            capture_output=True,
            encoding="utf-8",
            timeout=timeout_s,
            check=False,
        )

    def command(self, main_class: str, *arguments: str) -> list[str]:
        """In the place of a class the name of a source file will do."""
        return [*self._java, "-Dfile.encoding=UTF-8", main_class, *arguments]

    @contextmanager
    def broker(
        self, name: str, properties: Mapping[str, object]
    ) -> Iterator[subprocess.Popen[bytes]]:
        """A broker for the length of the block; it may end, or be killed, before."""
        with self.running(name, "kafka.Kafka", str(self.settings(name, properties))) as process:
            yield process

    def settings(self, name: str, properties: Mapping[str, object]) -> Path:
        """A file of properties."""
        file = self.folder / f"{name}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        return file

    @contextmanager
    def running(
        self, name: str, main_class: str, *arguments: str
    ) -> Iterator[subprocess.Popen[bytes]]:
        """A program that is killed at the end of the block, unless it has ended by itself.

        It goes on until its standard input is closed, or for as long as it likes.
        """
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [*self._java, main_class, *arguments],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
            )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()
