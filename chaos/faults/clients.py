"""Faults of a workload's own process, by its name in the scenario."""

from __future__ import annotations

from typing import Literal

from logquake.chaos.faults.value import FaultValue


class PauseClient(FaultValue):
    """SIGSTOP: a zombie once its group or its transaction has gone on without it."""

    kind: Literal["pause-client"] = "pause-client"
    client: str


class KillClient(FaultValue):
    """SIGKILL, in the middle of whatever it did; nothing undoes it."""

    kind: Literal["kill-client"] = "kill-client"
    client: str
