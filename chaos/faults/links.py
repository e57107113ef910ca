"""Faults of links, directed: bytes from ``source`` to ``target``, whoever dialled.

An end is ``broker-2``, ``clients``, ``zookeeper`` (all servers) or ``zookeeper-1``.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from logquake.chaos.faults.value import End, FaultValue, Target


class Partition(FaultValue):
    """Brokers of one group neither hear nor are heard by those of the others."""

    kind: Literal["partition"] = "partition"
    groups: tuple[tuple[int, ...], ...] = Field(min_length=2)


class Isolate(FaultValue):
    """One broker is cut from all other brokers, from ZooKeeper, and from clients."""

    kind: Literal["isolate"] = "isolate"
    target: Target


class Cut(FaultValue):
    """Bytes stay where they are, connections hang: a firewall that drops."""

    kind: Literal["cut"] = "cut"
    source: End
    target: End


class Delay(FaultValue):
    """Bytes arrive later."""

    kind: Literal["delay"] = "delay"
    source: End
    target: End
    ms: int = Field(gt=0)
    jitter_ms: int = Field(default=0, ge=0)


class Throttle(FaultValue):
    """Bytes arrive at a rate."""

    kind: Literal["throttle"] = "throttle"
    source: End
    target: End
    bytes_per_s: int = Field(gt=0)


class Reset(FaultValue):
    """Connections are reset, and refused while it lasts."""

    kind: Literal["reset"] = "reset"
    source: End
    target: End


class DropAfter(FaultValue):
    """Connections close once so many bytes have passed."""

    kind: Literal["drop-after"] = "drop-after"
    source: End
    target: End
    bytes: int = Field(gt=0)


class HalfOpen(FaultValue):
    """One end's closing is not told to the other."""

    kind: Literal["half-open"] = "half-open"
    source: End
    target: End


class Inject(FaultValue):
    """What becomes of one API's requests, or their answers, on the links of one broker.

    ``target`` is the broker that is asked, all of them if none is named; ``source`` the end that
    asks. Of what is done one thing is chosen: an ``error`` of Kafka's in place of the answer, a
    delay, a drop, a double, another order. ``times`` bounds how often, ``rate`` how many of all.
    """

    kind: Literal["inject"] = "inject"
    api: str
    target: int | None = None
    source: End | None = None
    error: str | None = None
    delay_ms: int | None = Field(default=None, gt=0)
    drop: Literal["request", "response"] | None = None
    duplicate: bool = False
    reorder: bool = False
    times: int | None = Field(default=None, ge=1)
    rate: float = Field(default=1.0, gt=0, le=1)

    @model_validator(mode="after")
    def _does_one_thing(self) -> Self:
        done = (self.error, self.delay_ms, self.drop, self.duplicate or None, self.reorder or None)
        if sum(thing is not None for thing in done) != 1:
            raise ValueError("say one of error, delay_ms, drop, duplicate, reorder")
        return self
