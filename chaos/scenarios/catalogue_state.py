"""What a scenario lacks before it can be run here."""

from __future__ import annotations

from logquake.chaos.faults.performing import can_be_done
from logquake.chaos.scenarios.scenario import Scenario


def lacking(scenario: Scenario) -> str | None:
    """In words; None where nothing is missing."""
    if scenario.lacks is not None:
        return scenario.lacks
    kinds = {fault.kind for fault in scenario.faults}
    if scenario.storm is not None:
        kinds |= set(scenario.storm.kinds)
    missing = sorted(kind for kind in kinds if not can_be_done(kind))
    return f"nothing performs {', '.join(missing)}" if missing else None
