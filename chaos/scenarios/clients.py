"""Whose clients a scenario's programs run over."""

from __future__ import annotations

from collections.abc import Sequence

from logquake.chaos.scenarios.scenario import Scenario
from logquake.chaos.scenarios.setup import WorkloadSetup
from logquake.chaos.scenarios.steps import Start, Step
from logquake.chaos.workloads.plan import ClientLibrary, WorkloadKind, runs_over

CLIENT = "client"  # the option of a workload


def over_clients(scenario: Scenario, libraries: Sequence[ClientLibrary]) -> Scenario:
    """The same with its workloads over that library's client, so far as they run over it; other
    programs have their own. Of several libraries each has a copy of every workload, named after it.

    Raises ValueError where there are several, and steps, which wait for what a program by its name
    does.
    """
    if len(libraries) > 1:
        return _side_by_side(scenario, libraries)
    (library,) = libraries
    workloads = tuple(_over(one, library) for one in scenario.workloads)
    steps = scenario.steps and tuple(_step_over(step, library) for step in scenario.steps)
    return scenario.model_copy(update={"workloads": workloads, "steps": steps})


def needs_java(scenario: Scenario) -> bool:
    started = (step.start for step in scenario.steps or () if isinstance(step, Start))
    programs = (*scenario.workloads, *started)
    return any(one.options.get(CLIENT) == ClientLibrary.JAVA for one in programs)


def _side_by_side(scenario: Scenario, libraries: Sequence[ClientLibrary]) -> Scenario:
    if scenario.steps:
        raise ValueError(
            f"{scenario.name} has steps that name its programs: run it once with each --client"
        )
    workloads = (copy for one in scenario.workloads for copy in (_copies(one, libraries) or [one]))
    return scenario.model_copy(update={"workloads": tuple(workloads)})


def _copies(workload: WorkloadSetup, libraries: Sequence[ClientLibrary]) -> list[WorkloadSetup]:
    return [
        _over(workload, library).model_copy(update={"name": f"{workload.name}-{library}"})
        for library in dict.fromkeys(libraries)
        if _can_run_over(workload, library)
    ]


def _step_over(step: Step, library: ClientLibrary) -> Step:
    if not isinstance(step, Start):
        return step
    return step.model_copy(update={"start": _over(step.start, library)})


def _over(workload: WorkloadSetup, library: ClientLibrary) -> WorkloadSetup:
    if not _can_run_over(workload, library):
        return workload
    return workload.model_copy(update={"options": {**workload.options, CLIENT: library.value}})


def _can_run_over(workload: WorkloadSetup, library: ClientLibrary) -> bool:
    return workload.command is None and runs_over(WorkloadKind(workload.kind), library)
