"""Topics become Parquet files, each row once, wherever the job is killed.

With EVERYTHING=1 in the environment it is killed at every step, the first and the second time.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from logquake.client import Admin
from logquake.cluster.api import Cluster
from logquake.pipeline.jobs.lake.lake import Lake, LakeSettings
from logquake.pipeline.jobs.lake.ledger import LakeError, Step, opened
from logquake.pipeline.jobs.lake.shape import Shape
from logquake.pipeline.jobs.lake.state import LakeState
from logquake.wire.topic_partition import TopicPartition
from tests.compat.killed_lake import lake_settings
from tests.compat.sparks import SPARKS_PATIENCE_S, SPARKS_WARNINGS
from tests.everything import IS_ASKED_FOR
from tests.log_contents import Given, send_records

pytestmark = [pytest.mark.slow, *SPARKS_WARNINGS]

HOUR_MS = 3_600_000
NOON_MS = 1_795_435_200_000  # 2026-11-23T12:00Z
PARTITIONS = 2
RECORDS = 300  # of each partition
MALFORMED = [
    *(b"no json", b'{"id": "seven"}', b'{"id": 7', b"", b" ", b"null", b"5"),
    *(b'[{"id": 7}, {"id": 8}]', b'[{"id": 7}]', b"[]"),
    *(b'{"id": 7}{"id": 8}', b'{"id": 7}\n{"id": 8}', b'{"id": 7}, {"id": 8}'),
    *(b'{"id": 7} more', b'{"id": 7}, "name": "x"', b'{"id": 7}] more'),
]
KILLS = list(product(Step, (1, 2))) if IS_ASKED_FOR else [(Step.DECIDED, 1)]


@pytest.fixture
def orders(cluster: Cluster, topic: Callable[..., str]) -> str:
    """Of three hours; the last records of each partition come late."""
    name = topic(partitions=PARTITIONS)
    for partition in range(PARTITIONS):
        records = [
            Given(b'{"id": %d}' % number, b"k%d" % number, timestamp_ms=NOON_MS + at)
            for number, at in enumerate(times())
        ]
        send_records(cluster.bootstrap_servers, name, records, partition=partition)
    return name


def times() -> list[int]:
    return [
        (number * 2 // RECORDS) * HOUR_MS if number < RECORDS - 10 else -HOUR_MS
        for number in range(RECORDS)
    ]


def fill(spark: Any, lake: Path, settings: LakeSettings) -> LakeState:
    with opened(lake) as ledger:
        return Lake(spark, settings, ledger).fill()


def rows(spark: Any, lake: Path) -> list[tuple[str, int, int]]:
    found = spark.read.parquet(str(lake)).selectExpr("topic", "partition", "offset")
    return sorted(map(tuple, found.collect()))


def every_row(topic: str) -> list[tuple[str, int, int]]:
    return [(topic, each, offset) for each in range(PARTITIONS) for offset in range(RECORDS)]


def test_records_lie_by_topic_date_and_hour_as_they_were(
    spark: Any, cluster: Cluster, orders: str, tmp_path: Path
) -> None:
    state = fill(spark, tmp_path, lake_settings(cluster.bootstrap_servers, orders))
    assert (state.rows, state.late) == (PARTITIONS * RECORDS, PARTITIONS * 10)
    assert rows(spark, tmp_path) == every_row(orders)
    hours = [path.relative_to(tmp_path).parts for path in tmp_path.glob("*/*/*")]
    days = [parts for parts in hours if parts[0] == f"topic={orders}"]
    assert sorted(parts[1:] for parts in days) == [
        ("date=2026-11-23", f"hour={hour}") for hour in (11, 12, 13)
    ]
    first = spark.read.parquet(str(tmp_path)).where("partition = 1 and offset = 7").first()
    assert (bytes(first.key), bytes(first.value)) == (b"k7", b'{"id": 7}')
    assert int(first.timestamp.timestamp() * 1000) == NOON_MS


def test_a_second_run_adds_what_came_since_and_merges_small_files(
    spark: Any, cluster: Cluster, orders: str, tmp_path: Path
) -> None:
    settings = lake_settings(cluster.bootstrap_servers, orders)
    fill(spark, tmp_path, settings)
    send_records(cluster.bootstrap_servers, orders, [Given(b"{}", timestamp_ms=NOON_MS)])
    assert fill(spark, tmp_path, settings).rows == PARTITIONS * RECORDS + 1
    assert rows(spark, tmp_path) == sorted([*every_row(orders), (orders, 0, RECORDS)])
    files = [len(list(hour.glob("*.parquet"))) for hour in tmp_path.glob("*/*/*/")]
    assert max(files) <= 2


def test_what_is_gone_amid_a_run_is_passed_over_where_loss_is_allowed(
    spark: Any, cluster: Cluster, orders: str, tmp_path: Path
) -> None:
    def delete_some(step: Step) -> None:
        """Of what the next batch, which is planned by then, has to read."""
        if step is Step.COMMITTED:
            place = TopicPartition(orders, 0)
            admin.delete_records({place: RECORDS - 20})[place].result()

    servers = {"bootstrap.servers": cluster.bootstrap_servers}
    source = {"kafka.bootstrap.servers": cluster.bootstrap_servers, "subscribe": orders}
    settings = LakeSettings(source | {"failOnDataLoss": "false"}, batch_records=400)
    with Admin(servers) as admin, opened(tmp_path, delete_some) as ledger:
        Lake(spark, settings, ledger).fill()
    found = [offset for _, partition, offset in rows(spark, tmp_path) if partition == 0]
    assert found == [*range(200), *range(RECORDS - 20, RECORDS)]


def test_json_is_read_by_its_schema_and_what_does_not_fit_is_kept(
    spark: Any, cluster: Cluster, topic: Callable[..., str], tmp_path: Path
) -> None:
    name = topic(partitions=1)
    values = [b'{"id": 7, "name": "x"}', None, b'{"id": 8, "more": [1, {}]}', *MALFORMED]
    records = [Given(value, timestamp_ms=NOON_MS) for value in values]
    send_records(cluster.bootstrap_servers, name, records)
    source = {"kafka.bootstrap.servers": cluster.bootstrap_servers, "subscribe": name}
    shape = Shape("id BIGINT, name STRING")
    assert fill(spark, tmp_path, LakeSettings(source, shape)).malformed == len(MALFORMED)
    found = spark.read.parquet(str(tmp_path)).orderBy("_offset")
    told = [tuple(row) for row in found.select("id", "name", "_malformed").collect()]
    assert told[:3] == [(7, "x", None), (None, None, None), (8, None, None)]
    assert [row[2] for row in told[3:]] == [value.decode() for value in MALFORMED]
    with pytest.raises(LakeError, match="its rows are json: id BIGINT, name STRING, not raw"):
        fill(spark, tmp_path, LakeSettings(source))


@pytest.mark.parametrize(("step", "nth"), KILLS)
def test_killed_and_run_again_no_row_is_missing_or_doubled(
    spark: Any, cluster: Cluster, orders: str, tmp_path: Path, step: Step, nth: int
) -> None:
    lake = tmp_path / "lake"
    command = [sys.executable, "-m", "tests.compat.killed_lake", step.name, str(nth)]
    killed = subprocess.run(
        [*command, cluster.bootstrap_servers, str(lake), orders],
        timeout=SPARKS_PATIENCE_S,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    fill(spark, lake, lake_settings(cluster.bootstrap_servers, orders))
    assert rows(spark, lake) == every_row(orders)
    assert {path.name for path in (lake / "_lake").iterdir()} == {"state.json", "lock"}
