"""What `python -m benchmarks spark` measures, in small, and without the connector."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.figures import cases_of, medians, targets_of
from benchmarks.rounds import Plan, measure
from benchmarks.spark.cases import Load, row_cases
from benchmarks.spark.formats import formats
from logquake.cluster.api import Cluster
from tests.compat.sparks import SPARKS_WARNINGS
from tests.everything import only_with_everything

pytestmark = [pytest.mark.slow, only_with_everything, *SPARKS_WARNINGS]


def test_rows_in_and_out_are_counted_by_case_and_format(spark: Any, cluster: Cluster) -> None:
    servers = str(cluster.bootstrap_servers)
    both = formats(spark, servers, connector=False)
    with row_cases(servers, [Load(100, 600, 60)]) as cases:
        results = measure(cases[:1] + cases[2:3], both, Plan(1))
    assert cases_of(results) == ["read a batch, 100 B", "write a batch, 100 B"]
    assert targets_of(results) == ["logquake", "logquake, exactly once"]
    assert all(each.figures["rows/s"] > 0 for each in results)
    assert not medians(results, "read a batch, 100 B", "logquake, exactly once")
