"""The whole of one scenario."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from logquake.chaos.faults.value import FaultValue
from logquake.chaos.scenarios.expectation import Enough, Expectation
from logquake.chaos.scenarios.setup import Setup, WorkloadSetup
from logquake.chaos.scenarios.steps import EVERYTHING, Await, Begin, Heal, Step
from logquake.chaos.schedules.schedule import Schedule
from logquake.chaos.schedules.storm import Storm

_ACKED_UNDER_FAULT = 100


class Scenario(BaseModel):
    """Set-up, workloads, one of storm, schedule and steps, and what must be seen.

    ``explanation`` says why it goes as it does, ``try_next`` what to change in the file and run
    again. ``seed`` is the one that its schedule was drawn with; workloads are seeded with it too.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    number: int | None = None
    title: str
    explanation: str = ""
    try_next: str = ""
    seed: int | None = None
    setup: Setup = Field(default_factory=Setup)
    workloads: tuple[WorkloadSetup, ...] = ()
    storm: Storm | None = None
    schedule: Schedule | None = None
    steps: tuple[Step, ...] | None = None
    expect: Expectation = Field(default_factory=Expectation)

    @model_validator(mode="after")
    def _breaks_in_one_way(self) -> Self:
        ways = (self.storm, self.schedule, self.steps)
        if sum(way is not None for way in ways) > 1:
            raise ValueError("say one of storm, schedule, steps")
        return self

    @model_validator(mode="after")
    def _names_what_it_began(self) -> Self:
        named: set[str | None] = {None}
        for step in self.steps or ():
            if isinstance(step, Begin):
                named.add(step.name)
            elif isinstance(step, Heal) and step.heal not in (EVERYTHING, *named):
                raise ValueError(f"{step.heal} is healed, and nothing of that name was begun")
            elif isinstance(step, Await) and step.condition.met not in named:
                raise ValueError(f"{step.condition.met} was not begun: it can meet nothing")
            elif isinstance(step, Await) and step.condition.other_than not in named:
                raise ValueError(f"{step.condition.other_than} was not begun, and done to nobody")
        return self

    @property
    def enough(self) -> Enough:
        """What must have happened. Steps wait for what they show; of faults at times, many may meet
        nothing. Programs that write no history tell nothing of their acks.
        """
        if self.expect.enough is not None:
            return self.expect.enough
        if self.schedule is None and self.storm is None:
            return Enough()
        is_told = any(one.command is None for one in self.workloads)
        return Enough(acked_under_fault=_ACKED_UNDER_FAULT if is_told else 0, elections=1)

    @property
    def is_watched(self) -> bool:
        """Of a program that writes no history, nothing is known otherwise."""
        return self.setup.watch or any(one.command is not None for one in self.workloads)

    @property
    def faults(self) -> list[FaultValue]:
        """All that it names; those of a storm are not drawn yet."""
        planned = [one.fault for one in self.schedule or ()]
        return [*planned, *(step.begin for step in self.steps or () if isinstance(step, Begin))]
