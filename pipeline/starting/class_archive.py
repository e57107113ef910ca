"""The JVM's class data archive for Spark's driver (AppCDS): two thirds of the processor time.

A rehearsal reads and counts a few rows, and its JVM archives the classes that it has loaded as it
ends (``python -m logquake.pipeline.rehearsal``). The archive is made once per Java and set of jars,
and kept in the user's cache directory. Without it all works, only slower.

Caveat: the JVM checks an archive against the jars' sizes and times and quietly ignores it when they
differ; the name carries the same facts so that a new installation gets a new archive.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from logquake.cluster.processes.java import Java
from logquake.cluster.processes.kept import cache_directory, fingerprint, keep

_MAKING_TIMEOUT_S = 600.0
_MOST_KEPT = 3  # each is of 160 MB, and of a PySpark that may be gone
# Of classes that cannot be archived, and of archives that do not fit: nobody asked.
_QUIETLY = "-Xlog:cds*=off -Xlog:class+path=off"


def archive_path(java: Java) -> Path:
    """Where the archive lies, or would lie. Raises OSError where there is no PySpark."""
    spark = find_spec("pyspark")
    if spark is None or spark.origin is None:
        raise FileNotFoundError("the extra logquake[spark] is not installed")
    jars = sorted(Path(spark.origin).parent.glob("jars/*.jar"))
    files = (java.executable.resolve(), *jars)
    return cache_directory() / f"spark-{fingerprint(files)}.jsa"


def archive_options(java: Java) -> str:
    """The driver's Java options that use the archive if it is there, and fits."""
    archive = archive_path(java)
    return f'{_QUIETLY} "-XX:SharedArchiveFile={archive}"' if archive.exists() else ""


def making_options(archive: Path) -> str:
    return f'{_QUIETLY} "-XX:ArchiveClassesAtExit={archive}"'


def make_archive(java: Java) -> bool:
    """Have it made unless it is there. Whether it is there now."""
    try:
        keep(archive_path(java), _make)
        forget_oldest(cache_directory())
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def forget_oldest(cache: Path) -> None:
    """A JVM that uses one does not miss it."""
    by_age = sorted(cache.glob("spark-*.jsa"), key=lambda path: path.stat().st_mtime_ns)
    for archive in by_age[:-_MOST_KEPT]:
        archive.unlink(missing_ok=True)


def _make(scratch: Path) -> Path:
    made = scratch / "made.jsa"
    subprocess.run(
        [sys.executable, "-m", "logquake.pipeline.rehearsal", "--into", str(made)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_MAKING_TIMEOUT_S,
        check=True,
    )
    return made
