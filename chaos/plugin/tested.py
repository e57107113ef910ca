"""The cluster of a test, and what its clients did."""

from __future__ import annotations

from functools import cached_property

from logquake.chaos.plugin.client_history import ClientHistory
from logquake.cluster.api import Cluster


class TestedCluster(Cluster):
    """``history`` is what clients were told since the test began."""

    __test__ = False  # pytest: nothing to collect

    @cached_property
    def history(self) -> ClientHistory:
        return ClientHistory(self)
