"""The planted bugs that a simulation finds, and what it says then."""

from __future__ import annotations

from logquake.planted.bug import PlantedBug, World
from logquake.planted.bugs import BUGS
from tests.sim.simulation import Simulation, SimulationFailure


def in_world(world: World) -> list[PlantedBug]:
    return [bug for bug in BUGS if bug.simulated is not None and bug.simulated.world is world]


def found_by(bug: PlantedBug) -> str:
    """A regular expression for the failure's first line."""
    breaks = bug.simulated.breaks if bug.simulated is not None else ()
    return f"^seed .*: ({'|'.join(breaks)}) does not hold"


def first_failure(cast: type[Simulation], seeds: int, bug: PlantedBug | None = None) -> str:
    """Of so many seeds, from the first on that is known of the bug."""
    first = bug.simulated.first_seed if bug is not None and bug.simulated is not None else 0
    for seed in range(first, first + seeds):
        try:
            cast(seed).run()
        except SimulationFailure as failure:
            return str(failure)
    return "nothing was found"
