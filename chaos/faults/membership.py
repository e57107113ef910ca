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


class RemoveBroker(FaultValue):
    """A broker goes for good, with its data; nothing undoes it, and nobody moves its replicas."""

    kind: Literal["remove-broker"] = "remove-broker"
    target: Target


class Wipe(FaultValue):
    """A broker is killed, loses its data, and starts empty; nothing undoes it.

    With ``spare`` once no ISR is with it; where it is the last in sync, it keeps its disk.
    """

    kind: Literal["wipe"] = "wipe"
    target: Target
    spare: bool = False


class Replace(FaultValue):
    """Another machine takes its place, elsewhere, with an empty disk; nothing undoes it.

    ``spare`` is as of Wipe. With a ``new_id`` its replicas are nobody's.
    """

    kind: Literal["replace"] = "replace"
    target: Target
    new_id: bool = False
    spare: bool = False
