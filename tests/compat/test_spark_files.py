"""Spark reads what is on brokers' disks, and what they wrote down, without asking a broker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from logquake.cluster.api import Cluster
from tests.compat.sparks import SPARKS_WARNINGS
from tests.log_contents import Given, send_records

pytestmark = [pytest.mark.slow, *SPARKS_WARNINGS]

RECORDS = 500


@pytest.fixture
def filled(cluster: Cluster, topic: Callable[..., str]) -> str:
    """A topic with three replicas of each record."""
    name = topic(partitions=1, replicas=3)
    records = [Given(b"%d" % number, b"key") for number in range(RECORDS)]
    send_records(cluster.bootstrap_servers, name, records)
    return name


def test_every_replica_is_read_from_its_files(spark: Any, cluster: Cluster, filled: str) -> None:
    rows = spark.read.format("logquake.segments").load(str(cluster.layout.root), topics=filled)
    replicas = rows.groupBy("broker").agg({"offset": "count", "crcOk": "min"})
    found = sorted(map(tuple, replicas.select("broker", "count(offset)", "min(crcOk)").collect()))
    assert found == [(broker, RECORDS, True) for broker in (1, 2, 3)]
    differing = rows.groupBy("partition", "offset", "value").count().where("count != 3")
    assert differing.count() == 0


def test_journals_are_rows(spark: Any, cluster: Cluster, filled: str) -> None:
    events = spark.read.format("logquake.journal").load(str(cluster.layout.root / "events"))
    elected = events.where(f"what = 'leader-elected' and subject = '{filled}-0'").collect()
    assert [row["epoch"] for row in elected] == [1]
    assert "first online replica leads" in elected[0]["why"]
