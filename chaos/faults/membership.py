"""Faults of ZooKeeper's word on who is there, and of who is there."""

from __future__ import annotations

from typing import Literal

from logquake.chaos.faults.value import FaultValue, Target


class ExpireSession(FaultValue):
    """ZooKeeper ends a broker's session."""

    kind: Literal["expire-session"] = "expire-session"
    target: Target


class DeleteController(FaultValue):
    """/controller is deleted: the office is free for whoever comes first."""

    kind: Literal["delete-controller"] = "delete-controller"


class AddBroker(FaultValue):
    """One broker more; removed again when it is healed."""

    kind: Literal["add-broker"] = "add-broker"


class Wipe(FaultValue):
    """A broker is killed, loses its data, and starts empty; nothing undoes it."""

    kind: Literal["wipe"] = "wipe"
    target: Target
