"""Each client of the benchmark sends and reads what it is asked to, however fast it is."""

from __future__ import annotations

import pytest

from benchmarks.libraries.cases import Client, Kind, library_cases
from benchmarks.libraries.load import Library, Work
from logquake.cluster.api import Cluster

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("one_in_flight", [False, True])
@pytest.mark.parametrize("library", list(Library))
def test_a_client_sends_its_records(
    cluster: Cluster, library: Library, one_in_flight: bool
) -> None:
    kind = Kind("few", 100, 50, one_in_flight=one_in_flight)
    check_figures(cluster, library, kind)


@pytest.mark.parametrize("library", list(Library))
def test_a_client_reads_all_records(cluster: Cluster, library: Library) -> None:
    check_figures(cluster, library, Kind("few", 100, 50, work=Work.CONSUME))


def check_figures(cluster: Cluster, library: Library, kind: Kind) -> None:
    client = Client(library, cluster.bootstrap_servers)
    with library_cases(60, [kind]) as [case]:
        figures = case.run(client)
    assert figures is not None
    assert set(figures) == {"records/s", "MB/s", "CPU s/GB", "peak MiB"}
    assert all(figure > 0 for figure in figures.values())
