"""Faults of a broker's process, or of ZooKeeper's."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from logquake.chaos.faults.seconds import Seconds
from logquake.chaos.faults.value import FaultValue, Target


class Kill(FaultValue):
    """SIGKILL; started again when it is healed."""

    kind: Literal["kill"] = "kill"
    target: Target


class Stop(FaultValue):
    """A controlled shutdown; started again when it is healed."""

    kind: Literal["stop"] = "stop"
    target: Target


class Pause(FaultValue):
    """SIGSTOP: a zombie once its session is over; SIGCONT when it is healed."""

    kind: Literal["pause"] = "pause"
    target: Target


class Restart(FaultValue):
    """A controlled shutdown and a start behind it: over by itself."""

    kind: Literal["restart"] = "restart"
    target: Target


class RestartStorm(FaultValue):
    """SIGKILL and a start, again and again, until it is healed or ``times`` are over."""

    kind: Literal["restart-storm"] = "restart-storm"
    target: Target
    times: int = Field(default=3, ge=1)
    pause: Seconds = 0.5
