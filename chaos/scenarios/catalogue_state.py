"""What a scenario lacks before it can be run here."""

from __future__ import annotations

from collections.abc import Iterator

from logquake.chaos.faults.performing import can_be_done
from logquake.chaos.history.rows import Kind
from logquake.chaos.scenarios.scenario import Scenario
from logquake.chaos.scenarios.steps import Await

# What a broker does to itself by order (`cluster/faults`).
INSIDE = frozenset(
    {"disk-full", "slow-disk", "disk-error", "read-only-disk", "crash-at", "torn-write"}
    | {"power-loss", "lose-log-dir", "clock-skew", "clock-jump"}
    | {"slow-start", "memory-limit", "file-limit"}
)


def lacking(scenario: Scenario) -> str | None:
    """In words; None where nothing is missing."""
    kinds = {fault.kind for fault in scenario.faults}
    if scenario.storm is not None:
        kinds |= set(scenario.storm.kinds)
    missing = sorted(kind for kind in kinds if not can_be_done(kind))
    if missing:
        return f"nothing performs {', '.join(missing)}"
    if scenario.setup.kafka:
        return "; ".join(_kafka_lacks(scenario, kinds)) or None
    return None


def _kafka_lacks(scenario: Scenario, kinds: set[str]) -> Iterator[str]:
    """Of Apache Kafka's brokers: what is done inside of ours, what only ours can be set to, and
    the journals that they write while they run.
    """
    inside = sorted(kinds & INSIDE)
    if inside:
        yield f"nothing does {', '.join(inside)} to Apache Kafka's brokers"
    settings = sorted(key for key in scenario.setup.config if key.startswith("logquake."))
    if settings:
        yield f"Apache Kafka has no {', '.join(settings)}"
    awaits = [step.condition.rows for step in scenario.steps or () if isinstance(step, Await)]
    journaled = sorted({rows.what for rows in awaits if rows is not None}.difference(Kind))
    if journaled:
        yield f"Apache Kafka's brokers write no journal, and {', '.join(journaled)} is waited for"
