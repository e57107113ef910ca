"""How badly a machine is starved, and the slices that follow from a seed: pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from logquake.cluster.faults.duty_cycle import slices


@dataclass(frozen=True, slots=True)
class Starvation:
    """The defaults are a machine that continuous integration really has."""

    seed: int
    busy_loops: int = 4  # processes that do nothing but take the processors
    stopped_share: float = 0.4  # of the time, for each process by itself
    shortest_ms: int = 50  # of the time that a process is stopped
    longest_ms: int = 400
    at_most_s: float = 600.0  # then all is healed, whatever became of the owner

    def slices(self, stream: int) -> Iterator[tuple[float, float]]:
        """Seconds to run, then seconds to be stopped, for ever; one stream a process."""
        of_stream = f"{self.seed}/{stream}"
        cycle = slices(of_stream, self.stopped_share, self.shortest_ms, self.longest_ms)
        for run_ms, stop_ms in cycle:
            yield run_ms / 1000, stop_ms / 1000


@dataclass(frozen=True, slots=True)
class Suffered:
    """What a starvation did."""

    processes: int
    stops: int
    stopped_s: float  # of all processes together
    lasted_s: float
