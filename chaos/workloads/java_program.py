"""The workloads over Kafka's Java client: a program of their own in ``java/``, a JVM each.

It writes the same rows as those over librdkafka, and is compiled once for a JDK and a set of jars.
Then a rehearsal tells the JVM which classes the clients are made of: it starts with an archive of
them (AppCDS) in half the processor time. Both are kept in the user's cache directory.
"""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from logquake.chaos.workloads.kafka_names import kafkas_settings
from logquake.chaos.workloads.plan import Plan
from logquake.cluster.errors import ClusterError
from logquake.cluster.kafka.libraries import CLIENTS, find_libraries
from logquake.cluster.processes.java import QUICK_START, Java, find_java
from logquake.cluster.processes.kept import cache_directory, fingerprint, keep

SOURCES = Path(__file__).with_name("java")
MAIN_CLASS = "Workload"
MAKING_TIMEOUT_S = 600.0

_COMPILER = "com.sun.tools.javac.Main"  # of the JDK itself, with no launcher of its own
_REHEARSAL = "Rehearsal"
# No backend for slf4j, which takes long to start: outcomes tell, not the client's log. The others
# decompress what their producers compressed.
_JARS = (CLIENTS, "slf4j-api-*.jar", "lz4-java-*.jar", "snappy-java-*.jar", "zstd-jni-*.jar")
_JVM_FLAGS = ("-Xmx256m", *QUICK_START)


@dataclass(frozen=True, slots=True)
class JavaProgram:
    """What is run: a Java, the program's own jar and Kafka's. ``archive`` need not be there."""

    java: Java
    jars: tuple[Path, ...]
    archive: Path

    def jvm(self, *flags: str) -> list[str]:
        """To which what is run is still to be added."""
        class_path = ":".join(map(str, self.jars))
        return [str(self.java.executable), *_JVM_FLAGS, *flags, "-cp", class_path]

    def command(self, plan: Plan, process: str, history: Path) -> list[str]:
        """Of a kind that is one process."""
        flags = (f"-XX:SharedArchiveFile={self.archive}",) if self.archive.exists() else ()
        arguments = {
            "kind": plan.kind,
            "bootstrap": plan.bootstrap,
            "process": process,
            "history": history,
            "told": json.dumps(plan.told(process)),
            **plan.own_options,
        }
        said = [f"{name}={value}" for name, value in arguments.items()]
        settings = [f"-c{name}={value}" for name, value in kafkas_settings(plan.settings).items()]
        return [*self.jvm(*flags), MAIN_CLASS, *said, *settings]


def java_program(environment: Mapping[str, str] = os.environ) -> JavaProgram:
    """Compiled, if it is not yet. Raises ClusterError where a JDK or Kafka's jars are missing."""
    java = find_java(environment)
    libraries = find_libraries(environment=environment, jar=CLIENTS)
    jars = tuple(path for pattern in _JARS for path in sorted(libraries.glob(pattern))[-1:])
    sources = sorted(SOURCES.glob("*.java"))
    facts = (repr(_JVM_FLAGS), *(source.read_text() for source in sources))
    name = f"java-workloads-{fingerprint((java.executable.resolve(), *jars), *facts)}"
    own = cache_directory(environment) / f"{name}.jar"
    program = JavaProgram(java, (own, *jars), own.with_suffix(".jsa"))
    if not own.exists():
        _make(program, sources)
    return program


def _make(program: JavaProgram, sources: list[Path]) -> None:
    own, *jars = program.jars
    try:
        keep(own, partial(_compile, program.java, jars, sources))
    except (OSError, subprocess.SubprocessError) as error:
        raise ClusterError(f"the Java workloads are not to be had: {error}") from None
    with suppress(OSError, subprocess.SubprocessError):  # without an archive it starts more slowly
        keep(program.archive, partial(_rehearse, program))


def _compile(java: Java, jars: list[Path], sources: list[Path], scratch: Path) -> Path:
    """A jar: no archive of classes can be made of those that lie in folders."""
    classes = scratch / "classes"
    class_path = ":".join(map(str, jars))
    # What it would warn of is sun.misc.Signal, for which there is nothing else.
    flags = ("-nowarn", "-XDignore.symbol.file", "-proc:none", "-encoding", "UTF-8")
    compiler = (str(java.executable), *QUICK_START, _COMPILER, *flags)
    done = _run([*compiler, "-cp", class_path, "-d", str(classes), *map(str, sources)])
    if done.returncode != 0:
        first = next(iter(done.stdout.splitlines()), f"status {done.returncode}")
        raise ClusterError(
            f"{java.executable} does not compile the Java workloads, which takes a JDK: {first}"
        )
    made = scratch / "made.jar"
    with zipfile.ZipFile(made, "w") as jar:
        for each in sorted(classes.rglob("*.class")):
            jar.write(each, each.relative_to(classes))
    return made


def _rehearse(program: JavaProgram, scratch: Path) -> Path:
    made = scratch / "made.jsa"
    _run([*program.jvm(f"-XX:ArchiveClassesAtExit={made}"), _REHEARSAL])
    return made


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=MAKING_TIMEOUT_S,
        check=False,
    )
