"""How many faults of which kinds."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from logquake.chaos.faults.seconds import Seconds

Weight = Annotated[float, Field(gt=0)]

# Whatever these do, and however they meet: what was acked with acks=all by two replicas in sync
# stays, as long as nothing of theirs takes a disk's content.
HARMLESS_KINDS = {
    "kill": 3.0,
    "stop": 1.0,
    "pause": 2.0,
    "restart": 1.0,
}


class Storm(BaseModel):
    """A schedule to be drawn.

    So many ``per_minute`` of the duration, each at any moment of it.
    ``kinds`` weighs the kinds against each other. At no time are more brokers down, or cut from
    the others, than ``broken_at_once``: what is drawn beyond that is left out. ``calm`` is how
    long before the end no fault begins.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    duration: Seconds = 60.0
    per_minute: float = Field(default=12.0, gt=0)
    shortest: Seconds = 1.0
    longest: Seconds = 9.0
    kinds: dict[str, Weight] = Field(default_factory=lambda: dict(HARMLESS_KINDS), min_length=1)
    broken_at_once: int = Field(default=2, ge=1)
    calm: Seconds = 0.0

    @model_validator(mode="after")
    def _in_order(self) -> Storm:
        if self.shortest > self.longest:
            raise ValueError(f"shortest is {self.shortest} s, longest {self.longest} s")
        return self
