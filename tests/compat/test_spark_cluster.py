"""Jobs run on Spark clusters, whose workers are handed the package."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from logquake.cluster.api import Cluster
from tests.compat.sparks import SPARKS_PATIENCE_S, SPARKS_WARNINGS
from tests.compat.standalone_spark import StandaloneSpark, standalone_spark
from tests.everything import only_with_everything
from tests.log_contents import send_batch
from tests.system.wheels import build

pytestmark = [pytest.mark.slow, *SPARKS_WARNINGS]

PARTITIONS = 4
RECORDS = 250  # of each partition
PROGRAM = """
import sys
from logquake.pipeline.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneSpark]:
    pytest.importorskip("pyspark", reason="the extra logquake[spark] is not installed")
    with standalone_spark(tmp_path_factory.mktemp("standalone"), workers=2) as spark:
        yield spark


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("wheel"))


def test_a_lake_is_filled_by_workers_that_have_the_package_of_the_wheel_alone(
    spark_cluster: StandaloneSpark,
    wheel: Path,
    cluster: Cluster,
    topic: Callable[..., str],
    tmp_path: Path,
) -> None:
    name = topic(partitions=PARTITIONS)
    for partition in range(PARTITIONS):
        send_batch(cluster, name, *(b"%d" % each for each in range(RECORDS)), partition=partition)
    program, lake = tmp_path / "job.py", tmp_path / "lake"
    program.write_text(PROGRAM)
    arguments = ["lake", cluster.bootstrap_servers, str(lake), "--topics", name]
    job = spark_cluster.submit(wheel, program, *arguments)
    assert job.returncode == 0, job.stdout + job.stderr
    assert job.stdout.splitlines()[-1].startswith("1,000 rows new"), job.stdout
    rows = [
        (row["partition"], int(row["value"]))
        for path in lake.glob("topic=*/*/*/*.parquet")
        for row in parquet.ParquetFile(path).read(["partition", "value"]).to_pylist()
    ]
    assert sorted(rows) == [(each, n) for each in range(PARTITIONS) for n in range(RECORDS)]


@only_with_everything
def test_a_job_runs_on_executors_of_their_own_that_have_the_package_as_an_archive(
    cluster: Cluster, topic: Callable[..., str]
) -> None:
    pytest.importorskip("pyspark", reason="the extra logquake[spark] is not installed")
    name = topic(partitions=2)
    for partition in range(2):
        send_batch(cluster, name, b"a", b"b", partition=partition)
    job = subprocess.run(
        [
            *(sys.executable, "-m", "logquake.pipeline", "count"),
            *("--master", "local-cluster[2,1,1024]"),
            *(cluster.bootstrap_servers, name),
        ],
        capture_output=True,
        text=True,
        timeout=SPARKS_PATIENCE_S,
        check=False,
    )
    assert job.returncode == 0, job.stdout + job.stderr
    assert json.loads(job.stdout) == {"": 4}
