"""Faults of links, directed: bytes from ``source`` to ``target``, whoever dialled.

An end is ``2``, a role (``leader:orders/0``, ``controller``), ``clients``, ``zookeeper`` (all
servers) or ``zookeeper-1``; several are written with commas. ``both`` is both directions.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from logquake.chaos.faults.value import End, FaultValue, Target

Side = Literal["request", "response"]


class Partition(FaultValue):
    """Brokers of one group neither hear nor are heard by those of the others."""

    kind: Literal["partition"] = "partition"
    groups: tuple[tuple[int, ...], ...] = Field(min_length=2)


class Isolate(FaultValue):
    """One broker is cut from all other brokers and ZooKeeper, and if said so from clients."""

    kind: Literal["isolate"] = "isolate"
    target: Target
    clients: bool = False


class Cut(FaultValue):
    """Bytes stay where they are, connections hang: a firewall that drops."""

    kind: Literal["cut"] = "cut"
    source: End
    target: End
    both: bool = False


class Delay(FaultValue):
    """Bytes arrive later."""

    kind: Literal["delay"] = "delay"
    source: End
    target: End
    ms: int = Field(gt=0)
    jitter_ms: int = Field(default=0, ge=0)
    both: bool = False


class Throttle(FaultValue):
    """Bytes arrive at a rate."""

    kind: Literal["throttle"] = "throttle"
    source: End
    target: End
    bytes_per_s: int = Field(gt=0)
    both: bool = False


class Reset(FaultValue):
    """Connections are reset, and refused while it lasts."""

    kind: Literal["reset"] = "reset"
    source: End
    target: End


class DropAfter(FaultValue):
    """Connections are reset once so many bytes have passed."""

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
    """What becomes of one API's requests, or of their answers: RunningCluster.inject says more.

    ``target`` is who is asked, ``source`` the end that asks, ``client_id`` its name; whoever is not
    named may be anybody. One thing is chosen: an ``error`` of Kafka's in place of the answer, a
    delay, a drop, a reset in its place (``close``), a double, another order, a hold until
    the fault ends; or nothing, for steps that wait until it has met something (``notice``) or an
    answer with this error (``answered``).
    ``skip`` so many first, then ``times`` at most, ``rate`` of all.
    """

    kind: Literal["inject"] = "inject"
    api: str
    target: End | None = None
    source: End | None = None
    client_id: str | None = None
    error: str | None = None
    delay_ms: int | None = Field(default=None, gt=0)
    drop: Side | None = None
    close: Side | None = None
    duplicate: bool = False
    reorder: bool = False
    hold: bool = False
    notice: bool = False
    answered: str | None = None
    of: Side = "request"
    skip: int = Field(default=0, ge=0)
    times: int | None = Field(default=None, ge=1)
    rate: float = Field(default=1.0, gt=0, le=1)

    @model_validator(mode="after")
    def _does_one_thing(self) -> Self:
        said = (self.error, self.delay_ms, self.drop, self.close, self.answered)
        flags = (self.duplicate, self.reorder, self.hold, self.notice)
        if sum(one is not None for one in said) + sum(flags) != 1:
            raise ValueError(
                "say one of error, delay_ms, drop, close, duplicate, reorder, hold, notice, "
                "answered"
            )
        return self
