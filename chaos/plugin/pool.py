"""The clusters of one session of pytest, which is one worker's of xdist: lent to tests, reset.

A cluster is kept for the next test that asks for the same. What can't be reset is ended, and so is
the one that nobody asked for longest, once there are more than the user wants to have at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from logquake.chaos.plugin.asked import Asked
from logquake.chaos.plugin.baseline import Baseline
from logquake.chaos.plugin.reset import RESET_TIMEOUT_S, CannotResetError, reset
from logquake.chaos.plugin.tally import Tally
from logquake.chaos.plugin.tested import TestedCluster
from logquake.client.errors import ClientError
from logquake.cluster.errors import ClusterError


@dataclass(slots=True, eq=False)
class Lent:
    """A cluster in the hands of a test."""

    cluster: TestedCluster
    since_ms: int  # wall clock
    is_kept: bool = False  # to be looked at: it is neither reset nor ended


class ClusterPool:
    """``start`` makes a cluster of keywords, ``seed`` draws its random targets.

    At most ``most`` wait for a test; ``tally`` is told what was done.
    """

    def __init__(
        self,
        most: int,
        seed: str,
        tally: Tally,
        start: Callable[[Mapping[str, Any]], TestedCluster],
    ) -> None:
        self.tally = tally
        self._most = most
        self._seed = seed
        self._start = start
        self._ready: dict[str, TestedCluster] = {}  # by what was asked for, the last used last
        self._shared: list[
            TestedCluster
        ] = []  # a session's fixture has them, for as long as it lasts

    @contextmanager
    def lent(self, asked: Asked, to: str) -> Iterator[Lent]:
        """For the test of that name: at the end the cluster is where it was, or is ended.

        Raises ClusterError, ClientError.
        """
        cluster = self._taken(asked)
        try:
            before = self._prepared(cluster, to)
            lent = Lent(cluster, time.time_ns() // 1_000_000)
            yield lent
        except BaseException:
            self._end(cluster)
            raise
        if lent.is_kept:
            cluster.leave()
        elif not asked.fresh and self._is_reset(cluster, before):
            self._ready.setdefault(asked.key, cluster)
        else:
            self._end(cluster)

    @contextmanager
    def shared(self, asked: Asked) -> Iterator[TestedCluster]:
        """For a whole session, tests that ask for the same are lent it too."""
        cluster = self._taken(asked)
        self._shared.append(cluster)
        self._ready[asked.key] = cluster
        try:
            yield cluster
        finally:
            self._shared.remove(cluster)
            self._ready = {key: one for key, one in self._ready.items() if one is not cluster}
            cluster.close()

    def close(self) -> None:
        for cluster in self._ready.values():
            cluster.close()
        self._ready.clear()

    def _taken(self, asked: Asked) -> TestedCluster:
        """One that runs already, or a new one."""
        if not asked.fresh and asked.key in self._ready:
            return self._ready.pop(asked.key)
        idle = [key for key, cluster in self._ready.items() if cluster not in self._shared]
        for key in idle[: max(0, len(idle) + 1 - self._most)]:
            self._ready.pop(key).close()
        self.tally.started += 1
        return self._start(asked.options)

    def _prepared(self, cluster: TestedCluster, to: str) -> Baseline:
        cluster.random.seed(f"{self._seed}/{to}")
        cluster.deeds.forget()
        cluster.history.begin()
        with cluster.admin(RESET_TIMEOUT_S) as admin:
            return Baseline.of(cluster, admin)

    def _is_reset(self, cluster: TestedCluster, before: Baseline) -> bool:
        began = time.monotonic()
        try:
            reset(cluster, before)
        except (CannotResetError, ClusterError, ClientError) as error:
            self.tally.given_up.append(str(error))
            return False
        self.tally.resets_s.append(time.monotonic() - began)
        return True

    def _end(self, cluster: TestedCluster) -> None:
        """A shared one is ended with its fixture."""
        if cluster not in self._shared:
            cluster.close()
