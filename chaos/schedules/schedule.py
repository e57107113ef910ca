"""Faults, each with its beginning and its length."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import accumulate
from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field

from logquake.chaos.faults.any_fault import AnyFault
from logquake.chaos.faults.seconds import Seconds, written


class Planned(BaseModel):
    """A fault that begins ``at`` so long after the start, and lasts for so long."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True
    )

    at: Seconds
    lasting: Annotated[Seconds, Field(alias="for")]
    fault: AnyFault

    @property
    def ends(self) -> float:
        return self.at + self.lasting

    def __str__(self) -> str:
        return f"{written(self.at)} for {written(self.lasting)}: {self.fault}"


Schedule = tuple[Planned, ...]


class Spanning(Protocol):
    """What begins and ends, in seconds."""

    @property
    def at(self) -> float: ...
    @property
    def ends(self) -> float: ...


def overlapping(schedule: Iterable[Spanning]) -> int:
    """How many begin while another lasts, or last while another begins."""
    ordered = sorted(schedule, key=lambda one: one.at)
    begins = [one.at for one in ordered[1:]] + [math.inf]
    ends = accumulate((one.ends for one in ordered), max, initial=-math.inf)
    return sum(
        one.at < earlier or next_begins < one.ends
        for one, earlier, next_begins in zip(ordered, ends, begins, strict=False)
    )
