"""A Spark cluster of processes: a master and workers, whose Python does not have this package."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from logquake.cluster.processes.java import find_java
from logquake.pipeline.session import SHORT_LIVED, _java_home
from tests.compat.sparks import SPARKS_PATIENCE_S
from tests.waiting import PATIENCE_S, wait_for

_MASTER = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = re.compile(r"Successfully registered with master")


@dataclass(frozen=True)
class StandaloneSpark:
    home: Path
    master: str
    environment: Mapping[str, str]

    def submit(
        self, wheel: Path, program: Path, *arguments: str
    ) -> subprocess.CompletedProcess[str]:
        options = ["--py-files", str(wheel), "--executor-memory", "500m"]
        return subprocess.run(
            [
                str(self.home / "bin" / "spark-submit"),
                *("--master", self.master, *options, str(program), *arguments),
            ],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=SPARKS_PATIENCE_S,
            check=False,
        )


@contextmanager
def standalone_spark(folder: Path, workers: int) -> Iterator[StandaloneSpark]:
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "JAVA_HOME": str(_java_home(find_java(), folder)),
        # Neither its site-packages as such, where this package is linked, nor its python, which
        # would look there: what workers know of this package has to come with the job.
        "PYTHONPATH": str(home.parent),
        "PYSPARK_PYTHON": str(Path(sys.executable).resolve()),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_LOCAL_DIRS": str(folder),
        # Of the master, the workers, their executors and the driver: none lives for long.
        "JDK_JAVA_OPTIONS": SHORT_LIVED,
        # A job whose executors are killed again and again goes on.
        "SPARK_MASTER_OPTS": "-Dspark.deploy.maxExecutorRetries=-1",
    }
    with ExitStack() as running:

        def start(name: str, *arguments: str) -> Path:
            log = folder / f"{name}.log"
            command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{arguments[0]}"]
            options = ["--host", "127.0.0.1", "--webui-port", "0", *arguments[1:]]
            with log.open("wb") as output:
                process = subprocess.Popen(
                    [*command, *options], env=environment, stdout=output, stderr=output
                )
            running.callback(process.wait, PATIENCE_S)
            running.callback(process.terminate)
            return log

        log = start("master", "master.Master", "--port", "0")
        master = _told(log, _MASTER)[1]
        logs = [
            start(f"worker-{n}", "worker.Worker", "--cores", "1", "--memory", "600m", master)
            for n in range(workers)
        ]
        for log in logs:
            _told(log, _REGISTERED)
        yield StandaloneSpark(home, master, environment)


def _told(log: Path, pattern: re.Pattern[str]) -> re.Match[str]:
    found = wait_for(
        f"{pattern.pattern} in {log.name}", lambda: pattern.search(log.read_text()), bool
    )
    assert found is not None
    return found
