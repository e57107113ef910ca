"""Each client of the benchmark sends what it is asked to; how fast it was does not matter here."""

from __future__ import annotations

import pytest

from benchmarks.libraries.cases import Client, Kind, run
from benchmarks.libraries.load import Library
from logquake.cluster.api import Cluster

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("one_in_flight", [False, True])
@pytest.mark.parametrize("library", list(Library))
def test_a_client_sends_its_records(
    cluster: Cluster, library: Library, one_in_flight: bool
) -> None:
    kind = Kind("few", 100, 50, one_in_flight=one_in_flight)
    figures = run(Client(library, cluster.bootstrap_servers), kind, max_seconds=60)
    assert set(figures) == {"records/s", "MB/s", "CPU s/GB", "peak MiB"}
    assert all(figure > 0 for figure in figures.values())
