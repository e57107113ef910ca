"""What came of the same thing done through either format, and the table of what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmarks.spark.connector import CONNECTORS, OURS

_REFUSED = "refused"
Done = tuple[Any, ...] | list[Any]


class Case(NamedTuple):
    """``run`` is given a format and answers what is to be compared; what it raises is a refusal.

    ``differs`` says on purpose how, where it is not to be equal.
    """

    name: str
    run: Callable[[str], Done]
    differs: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    cluster: str
    case: Case
    of_connector: Done | str
    of_ours: Done | str
    told: str  # of what was refused

    @property
    def is_equal(self) -> bool:
        return self.of_connector == self.of_ours

    @property
    def is_expected(self) -> bool:
        return self.is_equal == (self.case.differs is None)

    def __str__(self) -> str:
        verdict = "equal" if self.is_equal else "differs"
        if not self.is_expected:
            verdict += ", UNEXPECTEDLY"
        sizes = " | ".join(map(_told, (self.of_connector, self.of_ours)))
        return f"{self.cluster:9} {self.case.name}: {verdict} ({sizes}){self.told}"


def compare(cluster: str, cases: Iterable[Case]) -> list[Outcome]:
    """Each is told as it is there."""
    outcomes = []
    for case in cases:
        (connectors, said), (ours, we_said) = _run(case, CONNECTORS), _run(case, OURS)
        told = "".join(f"\n          {each}" for each in (said, we_said) if each)
        outcomes.append(Outcome(cluster, case, connectors, ours, told))
        print(outcomes[-1], flush=True)
    return outcomes


def _run(case: Case, of_format: str) -> tuple[Done | str, str]:
    try:
        return case.run(of_format), ""
    except Exception as error:  # noqa: BLE001 - Spark raises what its sources do, in many classes
        return _REFUSED, f"{of_format}: {_last_line(error)}"


def _last_line(error: Exception) -> str:
    """Python's own, or the JVM's first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    ours = [line for line in lines if line.partition(":")[0].endswith("Error")]
    return (ours or lines or [type(error).__name__])[-1 if ours else 0][:200]


def _told(done: Done | str) -> str:
    return done if isinstance(done, str) else f"{len(done)} rows"
