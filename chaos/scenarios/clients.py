"""Whose clients a scenario's programs run over."""

from __future__ import annotations

from logquake.chaos.scenarios.scenario import Scenario
from logquake.chaos.scenarios.setup import WorkloadSetup
from logquake.chaos.scenarios.steps import Start, Step
from logquake.chaos.workloads.plan import ClientLibrary, WorkloadKind, runs_over

CLIENT = "client"  # the option of a workload


def over_client(scenario: Scenario, library: ClientLibrary) -> Scenario:
    """The same with its workloads over that library's client, so far as they run over it; other
    programs have their own.
    """
    workloads = tuple(_over(one, library) for one in scenario.workloads)
    steps = scenario.steps and tuple(_step_over(step, library) for step in scenario.steps)
    return scenario.model_copy(update={"workloads": workloads, "steps": steps})


def needs_java(scenario: Scenario) -> bool:
    started = (step.start for step in scenario.steps or () if isinstance(step, Start))
    programs = (*scenario.workloads, *started)
    return any(one.options.get(CLIENT) == ClientLibrary.JAVA for one in programs)


def _step_over(step: Step, library: ClientLibrary) -> Step:
    if not isinstance(step, Start):
        return step
    return step.model_copy(update={"start": _over(step.start, library)})


def _over(workload: WorkloadSetup, library: ClientLibrary) -> WorkloadSetup:
    if workload.command is not None or not runs_over(WorkloadKind(workload.kind), library):
        return workload
    return workload.model_copy(update={"options": {**workload.options, CLIENT: library.value}})
