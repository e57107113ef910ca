"""Faults one after the other, each waited for.

- say: The followers stop hearing of the leader.
  begin: {kind: cut, source: broker-1, target: broker-2}
  as: cut-2
- await: {isr: orders/0, size: 1}
- rest: 2s
- heal: cut-2
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from logquake.chaos.faults.any_fault import AnyFault
from logquake.chaos.faults.seconds import Seconds
from logquake.chaos.scenarios.patterns import RowPattern
from logquake.chaos.scenarios.setup import WorkloadSetup

EVERYTHING = "all"  # a name that heals whatever is broken
WITHIN_S = 60.0


class _Step(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True
    )

    say: str | None = None


class Begin(_Step):
    """A fault, which lasts until it is healed by its name, or the scenario ends."""

    begin: AnyFault
    name: str | None = Field(default=None, alias="as")


class Heal(_Step):
    heal: str


class Start(_Step):
    """One program more, from now on."""

    start: WorkloadSetup


class Rest(_Step):
    rest: Seconds


class Condition(BaseModel):
    """One thing to be waited for.

    ``rows`` that clients, brokers or the harness write from now on, or since the step before began
    to break or heal something, ``times`` of them; the ``isr`` of a partition, by its ``size``; a
    ``leader`` of a partition, which is ``broker``, or another than ``not_broker``, or ``no_one``; a
    ``controller``, in the same words, or another than the one that the fault of the name
    ``other_than`` was done to; how many ``zookeepers`` serve, at least; the
    ``high_watermark`` of a partition, once it ``reaches`` an offset (as often as it is looked at);
    or a fault of requests, by its name, that has ``met`` so many ``times`` what it is about.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: RowPattern | None = None
    times: int = Field(default=1, ge=1)
    isr: str | None = None
    size: int | None = Field(default=None, ge=0)
    leader: str | None = None
    controller: bool = False
    zookeepers: int | None = Field(default=None, ge=1)
    high_watermark: str | None = None
    reaches: int | None = Field(default=None, ge=0)
    met: str | None = None
    broker: int | None = None
    not_broker: int | None = None
    other_than: str | None = None
    no_one: bool = False

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        asked = (self.rows, self.isr, self.leader, self.controller or None, self.zookeepers)
        if sum(one is not None for one in (*asked, self.high_watermark, self.met)) != 1:
            raise ValueError(
                "say one of rows, isr, leader, controller, zookeepers, high_watermark, met"
            )
        if (self.high_watermark is None) != (self.reaches is None):
            raise ValueError("say which high_watermark is to be waited for, and what it reaches")
        if self.isr is not None and self.size is None:
            raise ValueError("say which size of the isr is waited for")
        return self

    def __str__(self) -> str:
        said = self.model_dump(exclude_defaults=True, exclude={"rows"})
        rows = [] if self.rows is None else [f"[{self.rows}]"]
        return " ".join([*rows, *(f"{name} {value}" for name, value in said.items())])


class Await(_Step):
    condition: Annotated[Condition, Field(alias="await")]
    within: Seconds = WITHIN_S


_KINDS = ("begin", "heal", "start", "rest", "await")


def _kind_of(step: object) -> str | None:
    """The one word by which a step says what it does."""
    if isinstance(step, dict):
        return next((kind for kind in _KINDS if kind in step), None)
    return type(step).__name__.lower()


Step = Annotated[
    Annotated[Begin, Tag("begin")]
    | Annotated[Heal, Tag("heal")]
    | Annotated[Start, Tag("start")]
    | Annotated[Rest, Tag("rest")]
    | Annotated[Await, Tag("await")],
    Discriminator(
        _kind_of,
        custom_error_type="no_step",
        custom_error_message=f"a step says one of {', '.join(_KINDS)}",
    ),
]
