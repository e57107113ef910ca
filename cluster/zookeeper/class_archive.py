"""The JVM's class data archive for ZooKeeper (AppCDS): start-up in 0.2 s instead of 0.35 s.

The archive is made once per Java and set of jars and kept in the user's cache directory. Making
it takes about two seconds, so nobody waits for it (supervisor/archive_making.py): a scratch server
runs to learn which classes are loaded, then the JVM dumps them. Without an archive all works, only
slower: whatever fails here is no error.

Caveat: the JVM checks an archive against the jars' sizes and times and quietly ignores it when
they differ; the name carries the same facts so that a new installation gets a new archive.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from logquake.cluster.errors import ClusterError
from logquake.cluster.processes.kept import cache_directory, fingerprint, keep
from logquake.cluster.processes.ports import LOOPBACK, hold_port_for_java, port_of
from logquake.cluster.zookeeper.program import JVM_FLAGS, Program
from logquake.cluster.zookeeper.server import spawn, spawn_server, wait_until_serving

MAKING_TIMEOUT_S = 600.0


def archive_flags(archive: Path) -> tuple[str, ...]:
    """JVM flags that use the archive if it is there, and fits."""
    return ("-Xshare:auto", f"-XX:SharedArchiveFile={archive}") if archive.exists() else ()


def archive_path(program: Program, environment: Mapping[str, str] | None = None) -> Path:
    """Where the archive of this program lies, or would lie."""
    files = (program.java.executable.resolve(), *program.jars)
    name = f"zookeeper-{fingerprint(files, repr(JVM_FLAGS))}.jsa"
    return cache_directory(environment) / name


def make_archive(program: Program, archive: Path) -> bool:
    """Make the archive unless it is there. Whether it is there now."""
    try:
        keep(archive, partial(_make, program))
    except (OSError, subprocess.SubprocessError, ClusterError):
        return False
    return True


def _make(program: Program, scratch: Path) -> Path:
    classes, made = scratch / "classes.lst", scratch / "made.jsa"
    _list_classes(program, scratch, classes)
    _dump(program, scratch, classes, made)
    return made


def _list_classes(program: Program, scratch: Path, classes: Path) -> None:
    """Run a server until it serves; the JVM writes the list when it is asked to end."""
    with hold_port_for_java() as held:
        port = port_of(held)
        flag = f"-XX:DumpLoadedClassList={classes}"
        process = spawn_server(program, scratch, LOOPBACK, port, flag)
        with _ended_at_exit(process):
            wait_until_serving(process, scratch, LOOPBACK, port, timeout_s=MAKING_TIMEOUT_S)
            process.terminate()
            process.wait(MAKING_TIMEOUT_S)


def _dump(program: Program, scratch: Path, classes: Path, made: Path) -> None:
    flags = (
        "-Xshare:dump",
        f"-XX:SharedClassListFile={classes}",
        f"-XX:SharedArchiveFile={made}",
    )
    process = spawn(program.jvm(*flags), scratch / "dump.log")
    with _ended_at_exit(process):
        process.wait(MAKING_TIMEOUT_S)


@contextlib.contextmanager
def _ended_at_exit(process: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        process.kill()
        process.wait()
